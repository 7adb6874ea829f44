package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Expand repeats its operand to Shape: axes are aligned at the last, and an
// extent of 1, or one that is missing in front, repeats.
type Expand struct{ Shape []ir.Dim }

// Infer refuses extents that cannot be the operand's repeated.
func (op Expand) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	x, lead := in[0], len(op.Shape)-in[0].Rank()
	if lead < 0 {
		return nil, fmt.Errorf("%s to shape %s of a smaller rank", x, shapeText(op.Shape))
	}
	for i, d := range x.Shape {
		n, okN := d.Int()
		m, okM := op.Shape[lead+i].Int()
		if okN && okM && n != 1 && n != m {
			return nil, fmt.Errorf("%s to shape %s: axis %d", x, shapeText(op.Shape), lead+i)
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

// Eval repeats the elements.
func (op Expand) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if _, err := op.Infer([]ir.Type{in[0].Type()}); err != nil {
		return nil, err
	}
	shape, ok := ir.Ints(op.Shape)
	if !ok {
		return nil, fmt.Errorf("shape %s has no value", shapeText(op.Shape))
	}
	return move(in[0], shape, op.source(in[0].Shape))
}

// InferElems repeats the elements.
func (op Expand) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	from, ok := in[0].Type.Static()
	if !ok {
		return nil
	}
	return moveElems(in[0], out, op.source(from))
}

// Lower makes it a Reshape where nothing repeats, else a StridedCopy.
func (op Expand) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Args[0]
	if x.Type.Elems().Equal(ir.Product(op.Shape...)) {
		return []*ir.Value{reshape(b, x, op.Shape...)}
	}
	return []*ir.Value{b.Node(StridedCopy{Shape: op.Shape, Strides: repeatStrides(x.Type.Shape, op.Shape)}, x)}
}

// Grad sums what was repeated.
func (Expand) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{calculus{b}.fit(of[0], n.Arg(0))}
}

// repeatStrides returns the strides by which a tensor of shape from is read when
// it is repeated to shape to: 0 where an extent is 1. Of an extent that may be 1
// that is decided by its value.
func repeatStrides(from, to []ir.Dim) []ir.Dim {
	s := make([]ir.Dim, len(to))
	lead := len(to) - len(from)
	for i, stride := range strides(from) {
		d, one := from[i], ir.Const(1)
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

// expand appends an Expand, unless it would change nothing, and before it checks of
// extents that are not known to be those of shape, or 1.
func expand(b *ir.Builder, x *ir.Value, shape ...ir.Dim) *ir.Value {
	if x.Type.Equal(ir.TensorOf(x.Type.DType, shape...)) {
		return x
	}
	checkExpand(b, x.Type.Shape, shape)
	return b.Node(Expand{Shape: shape}, x)
}

// checkExpand appends checks that extents are 1, or those of the last axes of a shape,
// where that is not known.
func checkExpand(b *ir.Builder, from, shape []ir.Dim) {
	lead := len(shape) - len(from)
	for i := max(0, -lead); i < len(from); i++ {
		if d, to := from[i], shape[lead+i]; !d.Equal(ir.Const(1)) && !d.Equal(to) {
			b.Nodes(ir.CheckDim{A: d, B: to, One: true, What: fmt.Sprintf("axis %d: %s expanded to %s", i, d, to)})
		}
	}
}

// importExpand reads Expand, whose shape is that of the operand and the shape
// broadcast to each other. Extents of which one may be 1 are checked to be equal
// unless one is.
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
	y := expand(b, x, shape...)
	checkExpand(b, want, shape)
	return []*ir.Value{y}, nil
}

// IsIdentity reports true.
func (Expand) IsIdentity(ir.Type) bool { return true }

// Movement repeats elements.
func (Expand) Movement() Movement { return Repeats }
