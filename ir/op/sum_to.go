package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// SumTo is what undoes [Expand] in a gradient: its operand summed to Shape, axes
// aligned at the last. An axis that Shape has not, or whose extent there is 1, is
// summed; of the others the extents are equal, which may show only when the model runs.
type SumTo struct{ Shape []ir.Dim }

// Infer refuses extents that cannot be summed to those of the shape.
func (op SumTo) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, numbers{}); err != nil {
		return nil, err
	}
	x, lead := in[0], in[0].Rank()-len(op.Shape)
	if lead < 0 {
		return nil, fmt.Errorf("%s to shape %s of a larger rank", x, shapeText(op.Shape))
	}
	for i, d := range op.Shape {
		n, okN := x.Shape[lead+i].Int()
		m, okM := d.Int()
		if okN && okM && m != 1 && n != m {
			return nil, fmt.Errorf("%s to shape %s: axis %d", x, shapeText(op.Shape), i)
		}
	}
	return []ir.Type{ir.TensorOf(x.DType, op.Shape...)}, nil
}

// Eval adds in float64, or in wrapping integers.
func (op SumTo) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	if _, err := op.Infer([]ir.Type{x.Type()}); err != nil {
		return nil, err
	}
	shape, ok := ir.Ints(op.Shape)
	if !ok {
		return nil, fmt.Errorf("shape %s has no value", shapeText(op.Shape))
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

// Lower sums axes that are read as two: one of what is summed, of extent 1 where the
// extents are equal, and one that is kept.
func (op SumTo) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Arg(0)
	lead, step := x.Type.Rank()-len(op.Shape), strides(x.Type.Shape)
	shape, by := x.Type.Shape[:lead:lead], step[:lead:lead]
	var axes []int
	for i := range lead {
		axes = append(axes, i)
	}
	for i, d := range op.Shape {
		from := x.Type.Shape[lead+i]
		if one := ir.Const(1); d.Equal(from) {
			shape, by = append(shape, d), append(by, step[lead+i])
		} else {
			axes = append(axes, len(shape))
			shape, by = append(shape, from.Sub(d).Add(one), d), append(by, step[lead+i], step[lead+i])
		}
	}
	if len(axes) > lead {
		x = b.Node(StridedCopy{Shape: shape, Strides: by}, x)
	}
	return []*ir.Value{reshape(b, calculus{b}.sum(x, false, axes...), op.Shape...)}
}

// Grad repeats what was summed.
func (SumTo) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{expand(b, of[0], n.Arg(0).Type.Shape...)}
}
