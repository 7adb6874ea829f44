package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/runtime/rt/untyped"
)

// Array returns the class of JavaScript's arrays for elements of type dtype, such as "Float32Array" for "f32". Elements
// of f16 and bf16 are passed as their bits. It returns "" for a type that scripts cannot pass.
func Array(dtype string) string { return classes[dtype] }

var classes = map[string]string{
	"bool": "Uint8Array", "u8": "Uint8Array", "u16": "Uint16Array", "u32": "Uint32Array", "u64": "BigUint64Array",
	"i8": "Int8Array", "i16": "Int16Array", "i32": "Int32Array", "i64": "BigInt64Array",
	"f16": "Uint16Array", "bf16": "Uint16Array", "f32": "Float32Array", "f64": "Float64Array",
	"string": "Array",
}

// value is an array of JavaScript that was passed for an input.
type value struct {
	// name of the input
	name string
	// name of the array's class, such as "Float32Array"
	class string
	// number of elements
	length int
	// nil if the caller did not give it
	shape []int
}

// inputs returns the tensors for the inputs of a method, without their elements, and the index in `given` of each
// tensor's value. It returns an error if an input is missing, unknown or given twice, or if a value does not fit
// its input.
func inputs(m *untyped.Method, given []value) (in []untyped.Tensor, from []int, err error) {
	in, from = make([]untyped.Tensor, len(m.In)), make([]int, len(m.In))
	for k, p := range m.In {
		from[k] = slices.IndexFunc(given, func(v value) bool { return v.name == p.Name })
		if from[k] < 0 {
			return nil, nil, fmt.Errorf("input %q is missing", p.Name)
		}
		in[k].Port = p
		if in[k].Shape, err = shapeOf(p, given[from[k]]); err != nil {
			return nil, nil, err
		}
	}
	for i, v := range given {
		k := slices.IndexFunc(m.In, func(p *untyped.Port) bool { return p.Name == v.name })
		switch {
		case k < 0:
			return nil, nil, fmt.Errorf("there is no input %q; the inputs are %s", v.name, names(m.In))
		case from[k] != i:
			return nil, nil, fmt.Errorf("input %q is given twice", v.name)
		}
	}
	return in, from, untyped.CheckShapes(in)
}

func names(ports []*untyped.Port) string {
	var list []string
	for _, p := range ports {
		list = append(list, p.Name)
	}
	return strings.Join(list, ", ")
}

// shapeOf returns the shape of the tensor with the elements of v, an input for port p. If the caller did not give the
// shape, it follows from the number of elements, provided that at most one extent of the port is open. shapeOf
// returns an error if v has another class or number of elements than the port needs.
func shapeOf(p *untyped.Port, v value) ([]int, error) {
	if want := classes[p.DType]; v.class != want {
		return nil, fmt.Errorf("input %q is %s, want %s for elements of type %s", p.Name, v.class, want, p.DType)
	}
	shape := v.shape
	if shape == nil {
		var err error
		if shape, err = inferred(p, v.length); err != nil {
			return nil, err
		}
	}
	n, err := untyped.Elements(shape, p.Size)
	switch {
	case err != nil:
		return nil, fmt.Errorf("input %q: %w", p.Name, err)
	case n != v.length:
		return nil, fmt.Errorf("input %q has %d elements, want %d for shape %v", p.Name, v.length, n, shape)
	}
	return shape, nil
}

// inferred returns the shape of port p for a number of elements. It returns an error if several extents are open, or
// if no extent gives this number.
func inferred(p *untyped.Port, length int) ([]int, error) {
	shape, open := slices.Clone(p.Extents), -1
	for i, n := range shape {
		switch {
		case n >= 0:
		case open >= 0:
			return nil, fmt.Errorf("input %q has several open dimensions, %v; pass {data, shape}", p.Name, p.Symbols)
		default:
			open = i
		}
	}
	if open < 0 {
		return shape, nil
	}
	shape[open] = 1
	each, err := untyped.Elements(shape, p.Size)
	if err != nil {
		return nil, fmt.Errorf("input %q: %w", p.Name, err)
	}
	if each == 0 && length == 0 {
		return nil, fmt.Errorf("input %q has 0 elements, which fit any %s of shape %v; pass {data, shape}", p.Name, p.Symbols[open], p.Symbols)
	}
	if each == 0 || length%each != 0 {
		return nil, fmt.Errorf("input %q has %d elements, want a multiple of %d for shape %v", p.Name, length, each, p.Symbols)
	}
	shape[open] = length / each
	return shape, nil
}

// MethodName returns the name that a Go method has in scripts: its first letter is lower case.
func MethodName(name string) string { return strings.ToLower(name[:1]) + name[1:] }
