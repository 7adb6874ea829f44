package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// OneHot inserts an axis of extent Depth at position Axis of a tensor of indices. The second operand holds two
// values, off and on. Along the new axis, the element at the index is on, and the other elements are off. Negative
// indices count from the end. An index out of range sets no element. Indices are i32 or i64.
type OneHot struct {
	Axis  int
	Depth dim.Dim
}

// Infer returns the shape of the indices with an axis of extent Depth inserted at position Axis. The element type
// is that of the two values.
func (op OneHot) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	indices, values := in[0], in[1]
	if err := indexType(indices); err != nil {
		return nil, err
	}
	if op.Axis < 0 || op.Axis > indices.Rank() {
		return nil, fmt.Errorf("axis %d out of range for rank %d", op.Axis, indices.Rank()+1)
	}
	if n, ok := values.Elems().Int(); !ok || n != 2 || values.Rank() != 1 {
		return nil, fmt.Errorf("values are %s, two expected", values)
	}
	shape := append([]dim.Dim{}, indices.Shape[:op.Axis]...)
	shape = append(shape, op.Depth)
	shape = append(shape, indices.Shape[op.Axis:]...)
	return []ir.Type{ir.TensorOf(values.DType, shape...)}, nil
}

// Eval returns the second value at the elements whose position along Axis is the index, and the first value
// elsewhere.
func (op OneHot) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	indices, values := in[0], in[1]
	out, err := op.Infer([]ir.Type{indices.Type(), values.Type()})
	if err != nil {
		return nil, err
	}
	shape, ok := out[0].Static()
	if _, err := ir.CheckedLen(shape); err != nil || !ok {
		return nil, fmt.Errorf("depth %s: no shape", op.Depth)
	}
	y, depth, inner := ir.NewTensor(values.DType, shape...), shape[op.Axis], 1
	for _, d := range shape[op.Axis+1:] {
		inner *= d
	}
	for i := range y.Len() {
		place := i / inner % depth
		index := indices.Int(i/inner/depth*inner + i%inner)
		on := 0
		if index == int64(place) || index == int64(place-depth) {
			on = 1
		}
		y.Copy(i, values, on)
	}
	return []*ir.Tensor{y}, nil
}

// Grad returns the gradient of the second operand. It has two elements: the sum of dy over the elements with the
// first value, and the sum of dy over the elements with the second value.
func (op OneHot) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	c, g := calculus{b}, dy[0]
	d := g.Type.DType
	total := func(x *ir.Value) *ir.Value {
		return ReshapeTo(b, c.sum(x, false, AllAxes(x.Type.Rank())...), dim.Const(1))
	}
	part := func(off, on float64) *ir.Value {
		return total(c.mul(g, b.Node(op, n.Arg(0), b.Const(ir.FloatTensor(d, off, on)))))
	}
	return []*ir.Value{nil, b.Node(Concat{}, part(1, 0), part(0, 1))}
}

func importOneHot(c ir.Importer) ([]*ir.Value, error) {
	b, indices := c.Builder(), c.Arg(0)
	axis, err := fromFront(c.Int("axis", -1), indices.Type.Rank()+1)
	if err != nil {
		return nil, err
	}
	depth, err := boundDim(c, 1, "depth")
	if err != nil {
		return nil, err
	}
	if indexType(indices.Type) != nil {
		indices = ConvertTo(b, indices, ir.I64)
	}
	return []*ir.Value{b.Node(OneHot{Axis: axis, Depth: depth}, indices, c.Arg(2))}, nil
}
