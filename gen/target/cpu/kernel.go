package cpu

import (
	"fmt"
	"reflect"

	"github.com/burngen/burngen/gen/target/cpu/instance"
	"github.com/burngen/burngen/gen/target/cpu/kernel"
)

// apply calls an instance of the kernel k with n arguments. index is the index of the instance; see [instance.Of].
// arg returns argument i as a value of the type `want`. apply returns the kernel's result, or the zero Value if the
// kernel has no result except an error. It returns an error if arg or the kernel returns one, or if an argument is
// not assignable to the parameter.
func apply(k *kernel.Kernel, index, n int, arg func(i int, want reflect.Type) (reflect.Value, error)) (result reflect.Value, err error) {
	f := reflect.ValueOf(instance.Of(k.String(), index))
	t := f.Type()
	args := make([]reflect.Value, n)
	for i := range args {
		want := t.In(min(i, t.NumIn()-1))
		if t.IsVariadic() && i >= t.NumIn()-1 {
			want = want.Elem()
		}
		if args[i], err = arg(i, want); err != nil {
			return result, fmt.Errorf("%s: %w", k, err)
		}
		if !args[i].Type().AssignableTo(want) {
			return result, fmt.Errorf("%s: %s is a %s, %s expected", k, k.Param(i).Name, args[i].Type(), want)
		}
	}
	for _, out := range f.Call(args) {
		if out.Type() != errorType {
			result = out
		} else if !out.IsNil() {
			return result, out.Interface().(error)
		}
	}
	return result, nil
}

var errorType = reflect.TypeFor[error]()
