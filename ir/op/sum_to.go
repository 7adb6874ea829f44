package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// SumTo sums its operand to Shape, with axes aligned at the last. It undoes [Expand] in a gradient.
// It sums axes that Shape lacks, and axes where Shape has extent 1. Other extents must be equal,
// which may be checked at run time.
type SumTo struct{ Shape []dim.Dim }

// Infer returns the operand's element type in Shape. It returns an error if the operand cannot be
// summed to Shape.
func (op SumTo) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, numbers{}); err != nil {
		return nil, err
	}
	x, lead := in[0], in[0].Rank()-len(op.Shape)
	if lead < 0 {
		return nil, fmt.Errorf("%s to shape %s of a larger rank", x, ShapeText(op.Shape))
	}
	for i, d := range op.Shape {
		n, okN := x.Shape[lead+i].Int()
		m, okM := d.Int()
		if okN && okM && m != 1 && n != m {
			return nil, fmt.Errorf("%s to shape %s: axis %d", x, ShapeText(op.Shape), i)
		}
	}
	return []ir.Type{ir.TensorOf(x.DType, op.Shape...)}, nil
}

// Eval returns the sums in Shape. It adds in float64, or in wrapping integers.
func (op SumTo) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	if _, err := op.Infer([]ir.Type{x.Type()}); err != nil {
		return nil, err
	}
	shape, ok := dim.Ints(op.Shape)
	if !ok {
		return nil, fmt.Errorf("shape %s has no value", ShapeText(op.Shape))
	}
	y := ir.NewTensor(x.DType, shape...)
	walk := newIndex(x.Shape, shape)
	if !x.DType.IsFloat() {
		for i := range x.Len() {
			y.SetInt(walk.Offset, y.Int(walk.Offset)+x.Int(i))
			walk.Next()
		}
		return []*ir.Tensor{y}, nil
	}
	sums := make([]float64, y.Len())
	for i := range x.Len() {
		sums[walk.Offset] += x.Float(i)
		walk.Next()
	}
	for i, s := range sums {
		y.SetFloat(i, s)
	}
	return []*ir.Tensor{y}, nil
}

// Lower splits an axis into two axes: one is summed, and the other is kept. The summed axis has
// extent 1 if the extents are equal.
func (op SumTo) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Arg(0)
	lead, step := x.Type.Rank()-len(op.Shape), RowMajor(x.Type.Shape)
	shape, by := x.Type.Shape[:lead:lead], step[:lead:lead]
	var axes []int
	for i := range lead {
		axes = append(axes, i)
	}
	for i, d := range op.Shape {
		from := x.Type.Shape[lead+i]
		if one := dim.Const(1); d.Equal(from) {
			shape, by = append(shape, d), append(by, step[lead+i])
		} else {
			axes = append(axes, len(shape))
			shape, by = append(shape, from.Sub(d).Add(one), d), append(by, step[lead+i], step[lead+i])
		}
	}
	if len(axes) > lead {
		x = b.Node(StridedCopy{Shape: shape, Strides: by}, x)
	}
	return []*ir.Value{ReshapeTo(b, calculus{b}.sum(x, false, axes...), op.Shape...)}
}

// Grad returns dy, repeated along the summed axes to the operand's shape.
func (SumTo) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{ExpandTo(b, dy[0], n.Arg(0).Type.Shape...)}
}
