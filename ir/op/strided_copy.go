package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// StridedCopy reads the elements of its operand in an order that strides define. Element (i0, i1, …) of the result
// is element Offset + i0·Strides[0] + i1·Strides[1] + … of the operand, in row-major order. The result has the
// shape Shape. Strides may be 0 or negative. Operators that only move elements are lowered to StridedCopy.
type StridedCopy struct {
	Shape, Strides []dim.Dim
	Offset         dim.Dim
}

// Infer returns the operand's element type with the shape Shape.
func (op StridedCopy) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if len(op.Strides) != len(op.Shape) {
		return nil, fmt.Errorf("%d strides for rank %d", len(op.Strides), len(op.Shape))
	}
	return []ir.Type{ir.TensorOf(in[0].DType, op.Shape...)}, nil
}

// Eval returns the copied elements in the shape Shape. It returns an error if one is outside of the operand.
func (op StridedCopy) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	shape, ok := dim.Ints(op.Shape)
	strides, okStrides := dim.Ints(op.Strides)
	offset, okOffset := op.Offset.Int()
	if !ok || !okStrides || !okOffset {
		return nil, fmt.Errorf("shape, strides or offset has no value")
	}
	if _, err := ir.CheckedLen(shape); err != nil {
		return nil, err
	}
	y := ir.NewTensor(x.DType, shape...)
	walk := &index{shape: shape, strides: strides, at: make([]int, len(shape)), Offset: offset}
	for i := range y.Len() {
		if walk.Offset < 0 || walk.Offset >= x.Len() {
			return nil, fmt.Errorf("element %d of %d is out of range", walk.Offset, x.Len())
		}
		y.Copy(i, x, walk.Offset)
		walk.Next()
	}
	return []*ir.Tensor{y}, nil
}

// Grad returns the gradient of the operand. It adds each element of dy to the gradient of the element that it was
// copied from.
func (op StridedCopy) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	c, x, count := calculus{b}, n.Arg(0).Type, dim.Product(op.Shape...)
	at := fill(b, ir.Scalar(ir.I64, 0), op.Shape...)
	for i, stride := range op.Strides {
		at = c.add(at, c.mul(places(b, ir.I64, i, op.Shape...), c.extent(at, stride)))
	}
	at = c.add(at, c.extent(at, op.Offset))
	zeros := fill(b, ir.Scalar(x.DType, 0), x.Elems())
	sums := b.Node(ScatterElements{Axis: 0, Reduction: "add"}, zeros, ReshapeTo(b, at, count), ReshapeTo(b, dy[0], count))
	return []*ir.Value{ReshapeTo(b, sums, x.Shape...)}
}

// IsIdentity reports whether the copy reads all elements of x in row-major order, from the first element on.
func (op StridedCopy) IsIdentity(x ir.Type) bool {
	return op.Offset.Equal(dim.Dim{}) && slices.EqualFunc(op.Strides, RowMajor(x.Shape), dim.Dim.Equal)
}

// IsMemoryBound marks the operator as bound by memory bandwidth.
func (StridedCopy) IsMemoryBound() {}

// RowMajor returns the strides, in elements, of a contiguous tensor of the given shape.
func RowMajor(shape []dim.Dim) []dim.Dim {
	s, next := make([]dim.Dim, len(shape)), dim.Const(1)
	for i := len(shape) - 1; i >= 0; i-- {
		s[i], next = next, next.Mul(shape[i])
	}
	return s
}

// Movement returns Repeats: an element may occur several times.
func (StridedCopy) Movement() Movement { return Repeats }
