package nn

import (
	"math"
	"reflect"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// elementTypes maps the number types of Go to element types. Both float32 and float64 become f32. Other float types
// need a Cast.
var elementTypes = map[reflect.Kind]DType{
	reflect.Float64: F32, reflect.Float32: F32, reflect.Bool: Bool,
	reflect.Int: I64, reflect.Int64: I64, reflect.Int32: I32, reflect.Int16: I16, reflect.Int8: I8,
	reflect.Uint64: U64, reflect.Uint: U64, reflect.Uint32: U32, reflect.Uint16: U16, reflect.Uint8: U8,
}

// Of returns a value with the elements of data: a number, a bool, or nested slices or arrays with one level for
// each axis. Floats become f32, int becomes i64, uint becomes u64, and other types keep their width. If a shape is
// given, the value has this shape, and the elements fill it in row-major order.
func Of(data any, shape ...int) Value {
	v := reflect.ValueOf(data)
	if !v.IsValid() {
		fail("no data")
	}
	elem := v.Type()
	for elem.Kind() == reflect.Slice || elem.Kind() == reflect.Array {
		elem = elem.Elem()
	}
	d, ok := elementTypes[elem.Kind()]
	if !ok {
		fail("the elements are of type %s, not numbers or booleans", elem)
	}
	var found []int
	for x := v; x.Kind() == reflect.Slice || x.Kind() == reflect.Array; x = x.Index(0) {
		found = append(found, x.Len())
		if x.Len() == 0 {
			for t := x.Type().Elem(); t.Kind() == reflect.Slice || t.Kind() == reflect.Array; t = t.Elem() {
				found = append(found, 0)
			}
			break
		}
	}
	t := ir.NewTensor(d, found...)
	fill(t, v, found, 0)
	if len(shape) > 0 {
		n, err := ir.CheckedLen(shape)
		if err != nil || n != t.Len() {
			fail("%d elements do not fill the shape %v", t.Len(), shape)
		}
		t = t.Reshape(shape...)
	}
	return constant(t)
}

// fill stores the elements of v in t, from index `start` on. shape is the shape of v. fill returns the index after
// the last element.
func fill(t *ir.Tensor, v reflect.Value, shape []int, start int) int {
	if len(shape) > 0 {
		if v.Len() != shape[0] {
			fail("rows of %d and %d elements", shape[0], v.Len())
		}
		for i := range v.Len() {
			start = fill(t, v.Index(i), shape[1:], start)
		}
		return start
	}
	switch {
	case v.CanFloat():
		t.SetFloat(start, v.Float())
	case v.CanInt():
		t.SetInt(start, v.Int())
	case v.CanUint():
		t.SetInt(start, int64(v.Uint()))
	default:
		t.SetBool(start, v.Bool())
	}
	return start + 1
}

func number(o Operand, d DType) Value {
	v := reflect.ValueOf(o)
	t := ir.NewTensor(d)
	switch {
	case d == Bool && v.Kind() == reflect.Bool:
		t.SetBool(0, v.Bool())
	case d == Bool || d == ir.String || !v.CanFloat() && !v.CanInt() && !v.CanUint():
		fail("operand is a %T, want nn.Value, nn.Dim or a number, for %s", o, d)
	case v.CanFloat() && !d.IsFloat() && v.Float() != math.Trunc(v.Float()):
		fail("operand %v is not whole, and the value is %s; convert it with .Float()", o, d)
	case v.CanFloat():
		t.SetNumber(0, v.Float())
	case v.CanUint() && d.IsFloat():
		t.SetNumber(0, float64(v.Uint()))
	case v.CanUint():
		t.SetInt(0, int64(v.Uint()))
	case d.IsFloat():
		t.SetNumber(0, float64(v.Int()))
	default:
		t.SetInt(0, v.Int())
	}
	return constant(t)
}

// Full returns an f32 tensor whose elements are all x.
func Full(x float64, shape ...Extent) Value { return FullOf(F32, x, shape...) }

// FullOf is like [Full] with element type d.
func FullOf(d DType, x float64, shape ...Extent) Value {
	dims, v := extents(shape), ir.Scalar(d, x)
	if n, ok := dim.Ints(dims); ok {
		if _, err := ir.CheckedLen(n); err != nil {
			fail("%v", err)
		}
		return constant(ir.Splat(v, n...))
	}
	return one(op.Fill{Value: v, Shape: dims})
}

// Zeros returns an f32 tensor of zeros.
func Zeros(shape ...Extent) Value { return Full(0, shape...) }

// Ones returns an f32 tensor of ones.
func Ones(shape ...Extent) Value { return Full(1, shape...) }

// Empty is [Zeros], for tensors whose elements will be replaced.
func Empty(shape ...Extent) Value { return Full(0, shape...) }

// FullLike returns a tensor of x's type and shape. All its elements are v.
func FullLike(x Value, v float64) Value { return FullOf(x.DType(), v, shapeOf(x)...) }

// ZerosLike returns zeros of x's type and shape.
func ZerosLike(x Value) Value { return FullLike(x, 0) }

// OnesLike returns ones of x's type and shape.
func OnesLike(x Value) Value { return FullLike(x, 1) }

func shapeOf(x Value) []Extent {
	shape := make([]Extent, x.Rank())
	for i, d := range x.Shape() {
		shape[i] = d
	}
	return shape
}

// Arange returns the i64 vector 0, 1, …, n−1. It panics with an [*Error] if n is negative.
func Arange(n Extent) Value {
	return one(op.Range{Count: extents([]Extent{n})[0]}, number(0, I64), number(1, I64))
}

// ArangeStep returns the i64 vector start, start+step, … up to but not including end. If step is negative, the
// numbers descend. The vector is empty if start is already at or past end. ArangeStep panics with an [*Error] if
// step is 0.
func ArangeStep(start, end, step int) Value {
	n := 0
	switch {
	case step == 0:
		fail("the step is 0")
	case step > 0 && end > start:
		n = (end - start + step - 1) / step
	case step < 0 && end < start:
		n = (start - end - step - 1) / -step
	}
	return one(op.Range{Count: dim.Const(n)}, number(start, I64), number(step, I64))
}

// Linspace returns an f32 vector of n numbers, evenly spaced from `first` to `last`, both included.
// If n is 1, the number is `first`. If n is 0 or negative, the vector is empty.
func Linspace(first, last float64, n int) Value {
	t := ir.NewTensor(F32, max(n, 0))
	for i := range n {
		x := first
		if n > 1 {
			x += float64((last - first) * float64(i) / float64(n-1))
		}
		t.SetFloat(i, x)
	}
	return constant(t)
}

// Eye returns the f32 identity matrix of n rows.
func Eye(n Extent) Value {
	d := extents([]Extent{n})[0]
	return one(op.Eye{DType: F32, Rows: d, Cols: d})
}

// Diag returns a matrix with the elements of the vector x on its diagonal and zeros elsewhere.
func Diag(x Value) Value {
	if x.Rank() != 1 {
		fail("%s is not a vector", x.typ())
	}
	return Where(Eye(x.Dim(0)).Equal(1), x, ZerosLike(x))
}

// Scalar returns x as an f32 tensor of rank 0.
func Scalar(x float64) Value { return number(x, F32) }

func extentValue(d Dim) Value {
	if n, ok := d.d.Int(); ok {
		return number(n, I64)
	}
	v := one(ir.Extents{Type: ir.StaticTensor(I64, 1), Elems: []dim.Dim{d.d}})
	return one(op.Reshape{Shape: []dim.Dim{}}, v)
}
