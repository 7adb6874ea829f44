// Package field sets fields of structs to the values that files of tables hold. Its functions
// return an error if a value does not fit the type of a field. The package does not know files.
package field

import (
	"fmt"
	"reflect"
)

// Deref returns the value that v points to. If v is a nil pointer, Deref allocates the value. If v
// is not a pointer, it returns v.
func Deref(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Pointer {
		return v
	}
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	return v.Elem()
}

// SetInt sets v, an integer or a float, to n. It returns an error if v has another type or n
// overflows it. A float is rounded.
func SetInt(v reflect.Value, n int64) error {
	switch {
	case v.CanInt() && !v.OverflowInt(n):
		v.SetInt(n)
	case v.CanUint() && n >= 0 && !v.OverflowUint(uint64(n)):
		v.SetUint(uint64(n))
	case v.CanFloat():
		v.SetFloat(float64(n))
	default:
		return fmt.Errorf("%d is not a %v", n, v.Type())
	}
	return nil
}

// SetUint sets v, an integer or a float, to n. It returns an error if v has another type or n
// overflows it. A float is rounded.
func SetUint(v reflect.Value, n uint64) error {
	switch {
	case v.CanUint() && !v.OverflowUint(n):
		v.SetUint(n)
	case v.CanInt() && int64(n) >= 0 && !v.OverflowInt(int64(n)):
		v.SetInt(int64(n))
	case v.CanFloat():
		v.SetFloat(float64(n))
	default:
		return fmt.Errorf("%d is not a %v", n, v.Type())
	}
	return nil
}

// SetFloat sets v, a float, to x and rounds it. It returns an error if v has another type or x
// overflows v.
func SetFloat(v reflect.Value, x float64) error {
	if !v.CanFloat() || v.OverflowFloat(x) {
		return fmt.Errorf("%g is not a %v", x, v.Type())
	}
	v.SetFloat(x)
	return nil
}

// SetBool sets a bool. It returns an error if v has another type.
func SetBool(v reflect.Value, b bool) error {
	if v.Kind() != reflect.Bool {
		return fmt.Errorf("%t is not a %v", b, v.Type())
	}
	v.SetBool(b)
	return nil
}

// SetString sets a string. It returns an error if v has another type.
func SetString(v reflect.Value, s string) error {
	if v.Kind() != reflect.String {
		return fmt.Errorf("%.100q is not a %v", s, v.Type())
	}
	v.SetString(s)
	return nil
}

// IsBytes reports whether t is a slice or an array of bytes.
func IsBytes(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem() == reflect.TypeFor[byte]()
}

// SetBytes sets v, a slice or an array of bytes, to a copy of b. It returns an error if v has
// another type, or is an array of another length.
func SetBytes(v reflect.Value, b []byte) error {
	switch {
	case !IsBytes(v.Type()), v.Kind() == reflect.Array && v.Len() != len(b):
		return fmt.Errorf("%d bytes are not a %v", len(b), v.Type())
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), len(b), len(b)))
	}
	reflect.Copy(v, reflect.ValueOf(b))
	return nil
}
