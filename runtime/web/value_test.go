package web

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/untyped"
)

// TestInputs passes arrays for the inputs of methods, and reads the shapes or the error.
func TestInputs(t *testing.T) {
	port := func(name, dtype string, shape ...string) rt.Port {
		return rt.Port{Name: name, DType: dtype, Shape: shape}
	}
	image := []rt.Port{port("image", "f32", "N", "2", "3")}
	floats := func(n int, shape ...int) value { return value{"image", "Float32Array", n, shape} }
	const large = int(^uint(0) >> 1)
	for _, c := range []struct {
		ports []rt.Port
		given []value
		want  string
	}{
		{image, []value{floats(12)}, "[2 2 3]"},
		{image, []value{floats(0)}, "[0 2 3]"},
		{image, []value{floats(6, 1, 2, 3)}, "[1 2 3]"},
		{image, []value{floats(13)}, `input "image" has 13 elements, want a multiple of 6 for shape [N 2 3]`},
		{image, []value{floats(12, 1, 2, 3)}, `input "image" has 12 elements, want 6 for shape [1 2 3]`},
		{image, []value{floats(6, 6)}, `input "image" has shape [6], want 3 dimensions, [N 2 3]`},
		{image, []value{floats(6, 1, 3, 2)}, `input "image" has shape [1 3 2], want 2 along dimension 1, [N 2 3]`},
		{image, []value{floats(6, -1, 2, 3)}, `input "image": shape [-1 2 3] has a negative extent`},
		{image, []value{floats(0, 0, large, large)}, fmt.Sprintf(`input "image": shape [0 %d %d] has more elements than fit memory`, large, large)},
		{image, []value{{"image", "Float64Array", 12, nil}}, `input "image" is Float64Array, want Float32Array for elements of type f32`},
		{image, []value{{"image", "Array", 12, nil}}, `input "image" is Array, want Float32Array for elements of type f32`},
		{image, nil, `input "image" is missing`},
		{image, []value{floats(6), {"mask", "Float32Array", 1, nil}}, `there is no input "mask"; the inputs are image`},
		{image, []value{floats(6), floats(6)}, `input "image" is given twice`},
		{[]rt.Port{port("x", "f16", "2")}, []value{{"x", "Uint16Array", 2, nil}}, "[2]"},
		{[]rt.Port{port("x", "i64")}, []value{{"x", "BigInt64Array", 1, nil}}, "[]"},
		{[]rt.Port{port("x", "i64")}, []value{{"x", "BigInt64Array", 2, nil}}, `input "x" has 2 elements, want 1 for shape []`},
		{[]rt.Port{port("x", "bool", "N", "M")}, []value{{"x", "Uint8Array", 6, []int{2, 3}}}, "[2 3]"},
		{[]rt.Port{port("x", "bool", "N", "M")}, []value{{"x", "Uint8Array", 6, nil}}, `input "x" has several open dimensions, [N M]; pass {data, shape}`},
		{[]rt.Port{port("x", "f32", "N", "0")}, []value{{"x", "Float32Array", 0, nil}}, `input "x" has 0 elements, which fit any N of shape [N 0]; pass {data, shape}`},
		{[]rt.Port{port("x", "string", "N")}, []value{{"x", "Array", 3, nil}}, "[3]"},
		{[]rt.Port{port("x", "string", "N"), port("y", "i32", "N")}, []value{{"y", "Int32Array", 3, nil}, {"x", "Array", 3, nil}}, "[3] [3]"},
		{[]rt.Port{port("x", "string", "N"), port("y", "i32", "N")}, []value{{"y", "Int32Array", 2, nil}, {"x", "Array", 3, nil}}, `input "y" has shape [2], want 3 along dimension 0, [N]`},
	} {
		m, err := untyped.NewMethod("m", rt.ServedMethod{Inputs: c.ports})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		in, from, err := inputs(m, c.given)
		for k, x := range in {
			if k > 0 {
				got += " "
			}
			got += fmt.Sprint(x.Shape)
			if err == nil && c.given[from[k]].name != x.Port.Name {
				t.Errorf("%v: the value of %q is number %d", c.given, x.Port.Name, from[k])
			}
		}
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: %s\nwant %s", c.given, got, c.want)
		}
	}
}

// TestArray asserts that scripts have an array for each type of elements that package untyped has.
func TestArray(t *testing.T) {
	for dtype := range classes {
		if _, ok := untyped.SizeOf(dtype); !ok {
			t.Errorf("package untyped has no elements of type %s", dtype)
		}
	}
	for _, dtype := range []string{"bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "string"} {
		if Array(dtype) == "" {
			t.Errorf("there is no array of %s", dtype)
		}
	}
	if class := Array("f8e4m3"); class != "" {
		t.Errorf("f8e4m3 has the array %s", class)
	}
}
