package exec

import (
	"fmt"
	"reflect"
)

//go:generate go run ./internal/kernels

// function is a kernel: its instances for the element types it is defined for.
type function struct {
	name      string
	instances []reflect.Value
}

// kernel returns the kernel called name.
func kernel(name string) (function, error) {
	instances, ok := kernels[name]
	if !ok {
		return function{}, fmt.Errorf("no kernel %s", name)
	}
	f := function{name: name}
	for _, k := range instances {
		f.instances = append(f.instances, reflect.ValueOf(k))
	}
	return f, nil
}

// Fallible reports whether a kernel returns an error.
func Fallible(name string) bool {
	k, err := kernel(name)
	if err != nil {
		return false
	}
	t := k.instances[0].Type()
	return t.NumOut() > 0 && t.Out(t.NumOut()-1) == errorType
}

// ParamType returns the Go type of a kernel's parameter.
func ParamType(name string, i int) string {
	k, err := kernel(name)
	if err != nil || i >= k.instances[0].Type().NumIn() {
		return "[]int"
	}
	return k.instances[0].Type().In(i).String()
}

// call finds the instance that takes the arguments, which arg returns as what
// the parameter's type wants, and calls it. It returns the kernel's first result
// that is no error.
func (f function) call(n int, arg func(i int, want reflect.Type) (reflect.Value, error)) (result reflect.Value, err error) {
	for _, k := range f.instances {
		args, err := f.arguments(k.Type(), n, arg)
		if err != nil {
			return result, fmt.Errorf("%s: %w", f.name, err)
		}
		if args == nil {
			continue
		}
		for _, out := range k.Call(args) {
			if out.Type() != errorType {
				result = out
			} else if !out.IsNil() {
				return result, out.Interface().(error)
			}
		}
		return result, nil
	}
	return result, fmt.Errorf("%s is not defined for these arguments", f.name)
}

var errorType = reflect.TypeFor[error]()

// arguments returns the arguments as t takes them, nil when it does not.
func (f function) arguments(t reflect.Type, n int, arg func(i int, want reflect.Type) (reflect.Value, error)) ([]reflect.Value, error) {
	fixed := t.NumIn()
	if t.IsVariadic() {
		fixed--
	}
	if n < fixed || n > fixed && !t.IsVariadic() {
		return nil, fmt.Errorf("%d arguments, %d expected", n, t.NumIn())
	}
	args := make([]reflect.Value, n)
	for i := range args {
		want := t.In(min(i, t.NumIn()-1))
		if i >= fixed {
			want = want.Elem()
		}
		v, err := arg(i, want)
		if err != nil {
			return nil, err
		}
		if !v.Type().AssignableTo(want) {
			return nil, nil
		}
		args[i] = v
	}
	return args, nil
}
