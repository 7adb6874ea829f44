package op

import "github.com/burngen/burngen/ir"

// source tells where the element of a result comes from: it fills from with
// the coordinates in the operand of the element at these coordinates of the
// result. Operators that only move elements are defined by one.
type source func(at, from []int)

// move returns the tensor of a shape whose elements come from x.
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

// moveElems is move for known elements.
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

// visitMove calls visit with the row-major numbers of each element of shape to
// and of its source in shape from.
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

// strides returns the row-major strides of a shape, in elements.
func strides(shape []ir.Dim) []ir.Dim {
	s, next := make([]ir.Dim, len(shape)), ir.Const(1)
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = next
		next = next.Mul(shape[i])
	}
	return s
}
