package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// SumTo sums its operand to Shape. It undoes [Expand] in a gradient. The last axis of the operand is aligned with the
// last axis of Shape. SumTo sums along axes that Shape lacks, and along axes where Shape has extent 1. The other
// extents of the operand must be equal to the extents of Shape. If this is not known, it is checked at run time.
type SumTo struct{ Shape []dim.Dim }

// Infer returns the operand's element type with the shape Shape. It returns an error if the elements are not
// numbers, or if the operand cannot be summed to Shape.
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

// Lower first sums along the axes that must be summed whatever the values of symbols are. Then it handles, one
// after the other, the axes for which symbols decide it; see [SumTo.sumUnsure].
func (op SumTo) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Arg(0)
	lead, one := x.Type.Rank()-len(op.Shape), dim.Const(1)
	var sure, unsure []int
	for i := range x.Type.Rank() {
		switch from := x.Type.Shape[i]; {
		case i < lead, op.Shape[i-lead].Equal(one) && !from.Equal(one):
			sure = append(sure, i)
		case !op.Shape[i-lead].Equal(from):
			unsure = append(unsure, i)
		}
	}
	if len(unsure) > 0 && x.Type.DType.IsFloat() {
		x = ConvertTo(b, x, wide(x.Type.DType)) // sums are rounded once
	}
	x = calculus{b}.sum(x, true, sure...)
	for _, axis := range unsure {
		x = op.sumUnsure(b, x, axis, op.Shape[axis-lead])
	}
	return []*ir.Value{ConvertTo(b, ReshapeTo(b, x, op.Shape...), n.Arg(0).Type.DType)}
}

// sumUnsure sums an axis of x to d elements. Let n be the extent of the axis. d is 1, so that the axis is summed,
// or n, so that it is kept; which of the two is known only at run time. sumUnsure splits the axis into axes of
// n−d+1 and d elements, and sums along the first. If d is neither 1 nor n, the check of [ReshapeTo] fails at run
// time.
func (SumTo) sumUnsure(b *ir.Builder, x *ir.Value, axis int, d dim.Dim) *ir.Value {
	shape := slices.Clone(x.Type.Shape)
	shape[axis] = shape[axis].Sub(d).Add(dim.Const(1))
	return calculus{b}.sum(ReshapeTo(b, x, slices.Insert(shape, axis+1, d)...), false, axis)
}

// Grad returns dy, repeated along the summed axes to the operand's shape.
func (SumTo) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{ExpandTo(b, dy[0], n.Arg(0).Type.Shape...)}
}
