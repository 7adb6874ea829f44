package op

import (
	"github.com/burngen/burngen/ir"
)

// source defines an operator that only moves elements. `at` holds the coordinates of an element of the result. The
// function sets `from` to the coordinates of the element of the operand that is moved there.
type source func(at, from []int)

// move returns a tensor of the given shape. f says which element of x becomes each element of the tensor.
func move(x *ir.Tensor, shape []int, f source) ([]*ir.Tensor, error) {
	if _, err := ir.CheckedLen(shape); err != nil {
		return nil, err
	}
	if x.IsSplat() {
		return []*ir.Tensor{ir.Splat(x, shape...)}, nil
	}
	y := ir.NewTensor(x.DType, shape...)
	visitMove(x.Shape, shape, f, func(i, j int) { y.Copy(i, x, j) })
	return []*ir.Tensor{y}, nil
}

// moveElems returns the known elements of a result of type `out`. f says which element of x each element of the
// result is. moveElems returns nil if an extent is not constant.
func moveElems(x *ir.Value, out ir.Type, f source) []ir.Ratio {
	from, ok := x.Type.Static()
	shape, okOut := out.Static()
	if !ok || !okOut {
		return nil
	}
	n, _ := out.Elems().Int()
	elems := make([]ir.Ratio, n)
	visitMove(from, shape, f, func(i, j int) { elems[i] = x.Elems[j] })
	return elems
}

// visitMove calls visit for each element of a tensor of shape `to`. i is the row-major index of the element. j is
// the index of the element of a tensor of shape `from` that f moves there.
func visitMove(from, to []int, f source, visit func(i, j int)) {
	walk, at := newIndex(to, to), make([]int, len(from))
	n := 1
	for _, d := range to {
		n *= d
	}
	for i := range n {
		f(walk.at, at)
		j := 0
		for k, c := range at {
			j = j*from[k] + c
		}
		visit(i, j)
		walk.Next()
	}
}
