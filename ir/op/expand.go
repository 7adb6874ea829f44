package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Expand broadcasts its operand to Shape. The last axis of the operand is aligned with the last axis of Shape. The
// operand is repeated along its axes of extent 1, and along the axes of Shape that it lacks.
type Expand struct{ Shape []dim.Dim }

// Infer returns the operand's element type with the shape Shape. It returns an error if the operand cannot
// broadcast to Shape: if its rank is larger, or if a constant extent is neither 1 nor equal to the extent in Shape.
func (op Expand) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	x, lead := in[0], len(op.Shape)-in[0].Rank()
	if lead < 0 {
		return nil, fmt.Errorf("%s to shape %s of a smaller rank", x, ShapeText(op.Shape))
	}
	for i, d := range x.Shape {
		n, okN := d.Int()
		m, okM := op.Shape[lead+i].Int()
		if okN && okM && n != 1 && n != m {
			return nil, fmt.Errorf("%s to shape %s: axis %d", x, ShapeText(op.Shape), lead+i)
		}
	}
	return []ir.Type{ir.TensorOf(x.DType, op.Shape...)}, nil
}

func (op Expand) source(in []int) source {
	return func(at, from []int) {
		for i, d := range in {
			from[i] = 0
			if d != 1 {
				from[i] = at[len(at)-len(in)+i]
			}
		}
	}
}

// Eval returns the operand, repeated to Shape.
func (op Expand) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if _, err := op.Infer([]ir.Type{in[0].Type()}); err != nil {
		return nil, err
	}
	shape, ok := dim.Ints(op.Shape)
	if !ok {
		return nil, fmt.Errorf("shape %s has no value", ShapeText(op.Shape))
	}
	return move(in[0], shape, op.source(in[0].Shape))
}

// InferElems returns the known elements, repeated to Shape.
func (op Expand) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	from, ok := in[0].Type.Static()
	if !ok {
		return nil
	}
	return moveElems(in[0], out, op.source(from))
}

// Lower replaces the node by a [Reshape] if no element is repeated, and otherwise by a [StridedCopy].
func (op Expand) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Args[0]
	if x.Type.Elems().Equal(dim.Product(op.Shape...)) {
		return []*ir.Value{ReshapeTo(b, x, op.Shape...)}
	}
	return []*ir.Value{b.Node(StridedCopy{Shape: op.Shape, Strides: repeatStrides(x.Type.Shape, op.Shape)}, x)}
}

// Grad returns dy summed over the repeated axes, in the operand's shape.
func (Expand) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{calculus{b}.fit(dy[0], n.Arg(0))}
}

// repeatStrides returns the strides with which a tensor of shape `from` is read when it is broadcast to shape `to`.
// An axis of extent 1 has stride 0. If it is known only at run time whether an extent is 1, its stride is an
// expression that decides it then.
func repeatStrides(from, to []dim.Dim) []dim.Dim {
	s := make([]dim.Dim, len(to))
	lead := len(to) - len(from)
	for i, stride := range RowMajor(from) {
		d, one := from[i], dim.Const(1)
		switch n, isConst := d.Int(); {
		case isConst && n == 1:
		case isConst, d.Equal(to[lead+i]):
			s[lead+i] = stride
		default:
			s[lead+i] = d.Sub(one).Min(one).Mul(stride)
		}
	}
	return s
}

// ExpandTo appends an [Expand] of x to shape, or returns x if x already has the shape. An extent of x must be 1 or
// equal to the extent of shape. If that is not known, ExpandTo first appends a check at run time.
func ExpandTo(b *ir.Builder, x *ir.Value, shape ...dim.Dim) *ir.Value {
	if x.Type.Equal(ir.TensorOf(x.Type.DType, shape...)) {
		return x
	}
	checkExpand(b, x.Type.Shape, shape)
	return b.Node(Expand{Shape: shape}, x)
}

// checkExpand appends checks that a tensor of shape `from` broadcasts to `shape`. Each extent of `from` must be 1
// or equal to the extent of shape that it is aligned with. Checks that are known to succeed are left out.
func checkExpand(b *ir.Builder, from, shape []dim.Dim) {
	lead := len(shape) - len(from)
	for i := max(0, -lead); i < len(from); i++ {
		if d, to := from[i], shape[lead+i]; !d.Equal(dim.Const(1)) && !d.Equal(to) {
			b.Nodes(ir.CheckDim{A: d, B: to, One: true, What: fmt.Sprintf("axis %d: %s expanded to %s", i, d, to)})
		}
	}
}

func importExpand(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	want, err := boundDims(c, 1, "shape")
	if err != nil {
		return nil, err
	}
	shape, err := broadcastShape([]ir.Type{x.Type, ir.TensorOf(x.Type.DType, want...)})
	if err != nil {
		return nil, err
	}
	y := ExpandTo(b, x, shape...)
	checkExpand(b, want, shape)
	return []*ir.Value{y}, nil
}

// IsIdentity returns true. It is called for an Expand to the operand's own shape, which has no effect.
func (Expand) IsIdentity(ir.Type) bool { return true }

// Movement returns Repeats: an element may occur several times.
func (Expand) Movement() Movement { return Repeats }
