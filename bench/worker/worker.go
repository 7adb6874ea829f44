// Package worker runs a generated model on behalf of compare.mjs. It knows the protocol and the signatures of
// generated methods, but not any model.
package worker

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/burngen/burngen/bench/tensors"
	"github.com/burngen/burngen/gen/verify/harness"
	"github.com/burngen/burngen/runtime/rt"
)

// Main is the main function of a worker program:
//
//	worker.Main(model.Load, (*model.Model).Meta, (*model.Model).NewSession, (*model.Session).Forward)
//
// The program's arguments are a file with the inputs and a file for the outputs, in the format of package tensors. It
// runs the model once, writes the outputs and prints "ready". Then it answers each line "run N K" with N numbers.
// Each number is the mean time of K calls in nanoseconds.
//
// X is the type of the input or of the struct of inputs. Y is the type that outputs are written to.
func Main[M, S, X, Y any](load func() (*M, error), meta func(*M) rt.Meta, open func(*M, rt.Max) (*S, error), forward func(*S, Y, X) error) {
	if err := run(os.Args[1:], load, meta, open, forward); err != nil {
		fmt.Fprintf(os.Stderr, "worker: %v\n", err)
		os.Exit(1)
	}
}

func run[M, S, X, Y any](args []string, load func() (*M, error), meta func(*M) rt.Meta, open func(*M, rt.Max) (*S, error), forward func(*S, Y, X) error) error {
	if len(args) != 2 {
		return errors.New("want two arguments: INPUTS OUTPUTS")
	}
	in, err := tensors.Read(args[0])
	if err != nil {
		return err
	}
	p, err := Opener(load, meta, open, forward)(in)
	if err != nil {
		return err
	}
	if err := p.Run(); err != nil {
		return err
	}
	out, err := p.Outputs()
	if err != nil {
		return err
	}
	if err := tensors.Write(args[1], out); err != nil {
		return err
	}
	return obey(os.Stdin, os.Stdout, p.Run)
}

// Program is a model with its arguments.
type Program struct {
	// Run calls the model.
	Run func() error
	// Outputs returns the results of the last call.
	Outputs func() ([]tensors.Tensor, error)
}

// Open loads a model and prepares its arguments.
type Open func(inputs []tensors.Tensor) (*Program, error)

// Opener returns the Open of a generated package's model.
func Opener[M, S, X, Y any](load func() (*M, error), meta func(*M) rt.Meta, open func(*M, rt.Max) (*S, error), forward func(*S, Y, X) error) Open {
	return func(in []tensors.Tensor) (*Program, error) {
		m, err := load()
		if err != nil {
			return nil, err
		}
		s, err := open(m, rt.Max{})
		if err != nil {
			return nil, err
		}
		x, err := argument[X](in)
		if err != nil {
			return nil, err
		}
		batch := 0
		if len(in) > 0 && len(in[0].Shape) > 0 {
			batch = in[0].Shape[0]
		}
		y := result[Y](batch)
		return &Program{
			Run:     func() error { return forward(s, y, x) },
			Outputs: func() ([]tensors.Tensor, error) { return held(reflect.ValueOf(y), meta(m).Outputs) },
		}, nil
	}
}

// obey writes the line "ready" to out. It answers each line "run n k" that it reads from `in` with a line of n
// numbers. Each number is the mean time, in nanoseconds, of k calls of the function `step`.
func obey(in io.Reader, out io.Writer, step func() error) error {
	fmt.Fprintln(out, "ready")
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var n, k int
		if _, err := fmt.Sscanf(lines.Text(), "run %d %d", &n, &k); err != nil || n < 1 || k < 1 {
			return fmt.Errorf("unknown command %q", lines.Text())
		}
		times := make([]time.Duration, n)
		for i := range times {
			start := time.Now()
			for range k {
				if err := step(); err != nil {
					return err
				}
			}
			times[i] = time.Since(start)
		}
		w := bufio.NewWriter(out)
		for i, t := range times {
			if i > 0 {
				w.WriteByte(' ')
			}
			fmt.Fprint(w, float64(t.Nanoseconds())/float64(k))
		}
		w.WriteByte('\n')
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}

// argument converts the tensors to the argument of a generated method. T is the type of the only input, or a struct
// of all inputs.
func argument[T any](list []tensors.Tensor) (v T, err error) {
	x := reflect.ValueOf(&v).Elem()
	fields := fieldsOf(x)
	if len(fields) != len(list) {
		return v, fmt.Errorf("%d inputs, the model has %d", len(list), len(fields))
	}
	for i, f := range fields {
		t := list[i]
		value, err := harness.Decode(harness.Value{Elem: t.Type, Shape: t.Shape, Data: t.Data}, f.Type())
		if err != nil {
			return v, fmt.Errorf("input %q: %w", t.Name, err)
		}
		f.Set(value)
	}
	return v, nil
}

// result returns a value that a generated model can write its outputs to: a pointer, a slice, or a struct of these. A
// slice whose elements are [static] gets the length batch. Other slices are nil.
func result[T any](batch int) (v T) {
	x := reflect.ValueOf(&v).Elem()
	if x.Kind() == reflect.Pointer && x.Type().Elem().Kind() == reflect.Struct {
		x.Set(reflect.New(x.Type().Elem()))
		x = x.Elem()
	}
	for _, f := range fieldsOf(x) {
		switch t := f.Type(); {
		case t.Kind() == reflect.Pointer && static(t.Elem()):
			f.Set(reflect.New(t.Elem()))
		case t.Kind() == reflect.Slice && static(t.Elem()):
			f.Set(reflect.MakeSlice(t, batch, batch))
		}
	}
	return v
}

// held returns the outputs that a model wrote to y.
func held(y reflect.Value, outputs []rt.Port) ([]tensors.Tensor, error) {
	if y.Kind() == reflect.Pointer && y.Type().Elem().Kind() == reflect.Struct {
		y = y.Elem()
	}
	fields := fieldsOf(y)
	if len(fields) != len(outputs) {
		return nil, fmt.Errorf("%d outputs, the model has %d", len(fields), len(outputs))
	}
	var list []tensors.Tensor
	for i, f := range fields {
		v, err := harness.Encode(f)
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", outputs[i].Name, err)
		}
		t := tensors.Tensor{Name: outputs[i].Name, Type: tensors.Other}
		if v.Kind == harness.Tensor && v.Elem != "string" {
			t.Type, t.Shape, t.Data = strings.ToLower(strings.TrimPrefix(v.Elem, "rt.")), v.Shape, v.Data
		}
		list = append(list, t)
	}
	return list, nil
}

// fieldsOf returns the fields of a struct of inputs or outputs. Any other value is returned as the
// only field.
func fieldsOf(v reflect.Value) []reflect.Value {
	if v.Kind() != reflect.Struct || isTensor(v.Type()) {
		return []reflect.Value{v}
	}
	fields := make([]reflect.Value, v.NumField())
	for i := range fields {
		fields[i] = v.Field(i)
	}
	return fields
}

var tensorPackage = reflect.TypeFor[rt.Tensor[float32]]().PkgPath()

func isTensor(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == tensorPackage && strings.HasPrefix(t.Name(), "Tensor[")
}

// static reports whether t is a number, a boolean, or an array of these in any number of dimensions.
func static(t reflect.Type) bool {
	for t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t.Kind() <= reflect.Complex128
}
