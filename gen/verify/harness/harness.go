// Package harness is the library of the program that package verify builds. It reads requests,
// calls generated packages through their public functions, and writes the results. It does not know
// the expected results.
package harness

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/burngen/burngen/runtime/rt"
)

// Case is a generated package.
type Case struct {
	Name string
	// Load loads a model and returns its method Forward.
	Load func() (forward any, err error)
}

// Request asks for one call of a generated package.
type Request struct {
	Case   int // index of the case
	Inputs []Value
}

// Reply is the answer to a request.
type Reply struct {
	Outputs []Value
	// Err is the error of Load or Forward, or "".
	Err string
	// Panicked says that Err was a panic.
	Panicked bool
	// Unsupported says that Err wraps errors.ErrUnsupported.
	Unsupported bool
}

// Main serves requests on standard input and output until the input ends. It keeps the model of the
// last request loaded.
func Main(cases []Case) {
	if err := serve(cases, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		os.Exit(1)
	}
}

func serve(cases []Case, in io.Reader, out io.Writer) error {
	requests, replies := gob.NewDecoder(in), gob.NewEncoder(out)
	loaded := -1
	var forward any
	for {
		var q Request
		switch err := requests.Decode(&q); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case q.Case < 0 || q.Case >= len(cases):
			return fmt.Errorf("no case %d", q.Case)
		}
		var err error
		if loaded != q.Case {
			forward = nil
			if forward, err = cases[q.Case].Load(); err == nil {
				loaded = q.Case
			}
		}
		var r Reply
		if err == nil {
			r.Outputs, err = call(reflect.ValueOf(forward), q.Inputs)
		}
		if err != nil {
			r.Err = err.Error()
			var p *rt.PanicError
			r.Panicked = errors.As(err, &p)
			r.Unsupported = errors.Is(err, errors.ErrUnsupported)
		}
		if err := replies.Encode(r); err != nil {
			return err
		}
	}
}

// call calls Forward with inputs and returns its outputs, the fields of a struct one by one.
func call(forward reflect.Value, inputs []Value) ([]Value, error) {
	t := forward.Type()
	args := make([]reflect.Value, t.NumIn())
	for i := range args {
		args[i] = reflect.New(t.In(i)).Elem()
	}
	if err := Fill(args, inputs); err != nil {
		return nil, err
	}
	results := forward.Call(args)
	last := len(results) - 1
	if err, ok := results[last].Interface().(error); ok && err != nil {
		return nil, err
	}
	if last == 1 && isStruct(t.Out(0)) {
		out := results[0]
		results = nil
		for i := range out.NumField() {
			results = append(results, out.Field(i))
		}
	} else {
		results = results[:last]
	}
	outputs := make([]Value, len(results))
	for i, x := range results {
		var err error
		if outputs[i], err = Encode(x); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}

// Fill sets the arguments of Forward to inputs. args are variables, one for each input, or a single
// struct of them. It returns an error if the number of inputs differs, and the errors of [Decode].
func Fill(args []reflect.Value, inputs []Value) error {
	if len(args) == 1 && isStruct(args[0].Type()) {
		in := args[0]
		args = nil
		for i := range in.NumField() {
			args = append(args, in.Field(i))
		}
	}
	if len(inputs) != len(args) {
		return fmt.Errorf("%d inputs, the package has %d", len(inputs), len(args))
	}
	for i, v := range inputs {
		x, err := Decode(v, args[i].Type())
		if err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
		args[i].Set(x)
	}
	return nil
}

func isStruct(t reflect.Type) bool { return t.Kind() == reflect.Struct && !isTensor(t) }
