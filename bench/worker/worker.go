// Package worker runs a generated model at the command of compare.mjs. It knows
// the protocol and the shape of the generated API, not any model.
package worker

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"time"
	"unsafe"
)

// Main is the whole of a worker program:
//
//	worker.Main(model.Load, (*model.Model).NewSession, (*model.Session).Forward)
//
// The program's arguments are a file with the inputs' values and one for the
// outputs', raw and in the machine's byte order. It runs the model once, writes
// the outputs, prints "ready", and then answers each line "run N" with the
// nanoseconds that N further runs took.
//
// X is a pointer to the input, or a slice of inputs of which a batch is made; Y
// is the same for the output.
func Main[M, O, S, X, Y any](load func() (*M, error), open func(*M, O) (*S, error), forward func(*S, Y, X) error) {
	if err := run(os.Args[1:], load, open, forward); err != nil {
		fmt.Fprintf(os.Stderr, "worker: %v\n", err)
		os.Exit(1)
	}
}

func run[M, O, S, X, Y any](args []string, load func() (*M, error), open func(*M, O) (*S, error), forward func(*S, Y, X) error) error {
	if len(args) != 2 {
		return errors.New("want two arguments: INPUTS OUTPUTS")
	}
	m, err := load()
	if err != nil {
		return err
	}
	var options O
	s, err := open(m, options)
	if err != nil {
		return err
	}
	inputs, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	x, batch, err := argument[X](inputs)
	if err != nil {
		return err
	}
	y, outputs := result[Y](batch)
	if err := forward(s, y, x); err != nil {
		return err
	}
	if err := os.WriteFile(args[1], outputs, 0o666); err != nil {
		return err
	}
	return obey(os.Stdin, os.Stdout, func() error { return forward(s, y, x) })
}

// obey times step as the lines of in demand.
func obey(in io.Reader, out io.Writer, step func() error) error {
	fmt.Fprintln(out, "ready")
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "run %d", &n); err != nil || n < 1 {
			return fmt.Errorf("unknown command %q", lines.Text())
		}
		times := make([]time.Duration, n)
		for i := range times {
			start := time.Now()
			if err := step(); err != nil {
				return err
			}
			times[i] = time.Since(start)
		}
		w := bufio.NewWriter(out)
		for i, t := range times {
			if i > 0 {
				w.WriteByte(' ')
			}
			fmt.Fprint(w, t.Nanoseconds())
		}
		w.WriteByte('\n')
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}

// argument returns a value of type T, a pointer or a slice, that holds the given
// bytes, and its length if it is a slice.
func argument[T any](data []byte) (v T, batch int, err error) {
	t := reflect.TypeFor[T]()
	size := int(t.Elem().Size())
	batch = 1
	if t.Kind() == reflect.Slice && size > 0 {
		batch = len(data) / size
	}
	v, memory := result[T](batch)
	if len(memory) != len(data) {
		return v, 0, fmt.Errorf("%d bytes of inputs, %v takes %d", len(data), t, len(memory))
	}
	copy(memory, data)
	return v, batch, nil
}

// result returns a zero value of type T, a pointer or a slice of the given
// length, and the memory behind it.
func result[T any](batch int) (v T, memory []byte) {
	t := reflect.TypeFor[T]()
	all := reflect.MakeSlice(reflect.SliceOf(t.Elem()), batch, batch)
	memory = unsafe.Slice((*byte)(all.UnsafePointer()), batch*int(t.Elem().Size()))
	if t.Kind() == reflect.Slice {
		return all.Convert(t).Interface().(T), memory
	}
	return all.Index(0).Addr().Interface().(T), memory
}
