package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Reshape is its operand with another shape of as many elements, in the same
// row-major order.
type Reshape struct{ Shape []ir.Dim }

// Infer refuses a shape that cannot have as many elements as the operand; that
// it has them is checked where the shape comes from.
func (op Reshape) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if have, want := in[0].Elems(), ir.Product(op.Shape...); !have.Equal(want) {
		if lo, hi := have.Sub(want).Bounds(); lo > 0 || hi < 0 {
			return nil, fmt.Errorf("%s has not the %s elements of shape %s", in[0], want, shapeText(op.Shape))
		}
	}
	return []ir.Type{ir.TensorOf(in[0].DType, op.Shape...)}, nil
}

// shapeText returns a shape as it stands in a type, "[N,3]".
func shapeText(shape []ir.Dim) string {
	return ir.TensorOf(ir.F32, shape...).String()[len(ir.F32.String()):]
}

// Eval returns the elements in the new shape.
func (op Reshape) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	shape, ok := ir.Ints(op.Shape)
	if !ok {
		return nil, fmt.Errorf("shape %s has no value", shapeText(op.Shape))
	}
	n, err := ir.CheckedLen(shape)
	if err != nil {
		return nil, err
	}
	if n != in[0].Len() {
		return nil, fmt.Errorf("%s has not the %d elements of shape %s", in[0].Type(), n, shapeText(op.Shape))
	}
	return []*ir.Tensor{in[0].Reshape(shape...)}, nil
}

// InferElems returns the elements as they are.
func (Reshape) InferElems(in []*ir.Value, _ ir.Type) []ir.Ratio { return in[0].Elems }

// IsView marks that the elements stay where they are.
func (Reshape) IsView() {}

// Grad has the operand's shape.
func (Reshape) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{reshape(b, of[0], n.Arg(0).Type.Shape...)}
}

// reshape appends a Reshape, and before it a check of the number of elements
// where it cannot be proven. A value that has the shape is returned as it is.
func reshape(b *ir.Builder, x *ir.Value, shape ...ir.Dim) *ir.Value {
	if x.Type.Equal(ir.TensorOf(x.Type.DType, shape...)) {
		return x
	}
	if have, want := x.Type.Elems(), ir.Product(shape...); !have.Equal(want) && !want.Overflow() {
		b.Nodes(ir.CheckDim{A: have, B: want, What: "elements of reshape"})
	}
	return b.Node(Reshape{Shape: shape}, x)
}

// importReshape reads Reshape: its shape is an attribute before opset 5. An
// element 0 is the operand's extent unless allowzero says (opset 14) that it is
// none; one element -1 is what is left.
func importReshape(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	allowZero := c.Opset() >= 14 && c.Int("allowzero", 0) != 0
	var want []ir.Dim
	if c.Opset() < 5 {
		c.Ints("consumed_inputs", nil)
		want = ir.Dims(c.Ints("shape", nil)...)
	} else {
		if _, known := c.Arg(1).Dims(); c.Arg(1) != nil && !known {
			return reshapeBound(c, allowZero)
		}
		var err error
		if want, err = knownDims(c, 1, "shape"); err != nil {
			return nil, err
		}
	}
	shape, err := resolveShape(x.Type.Shape, want, allowZero)
	if err != nil {
		return nil, err
	}
	return []*ir.Value{reshape(c.Builder(), x, shape...)}, nil
}

// reshapeBound reads a Reshape whose shape is known when the model runs.
func reshapeBound(c ir.Importer, allowZero bool) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	rank, err := listLen(c, 1, "shape")
	if t, ok := c.ResultType(0); err != nil && ok {
		rank, err = t.Rank(), nil
	}
	if err != nil {
		return nil, err
	}
	bind := BindReshape{newBound(b, "shape", rank), x.Type.Shape, allowZero}
	b.Nodes(bind, intList(b, c.Arg(1)))
	return []*ir.Value{b.Node(Reshape{Shape: bind.dims()}, x)}, nil
}

// resolveShape returns the shape that Reshape of a tensor of shape from is asked
// for, with its elements 0 and -1 filled in.
func resolveShape(from, want []ir.Dim, allowZero bool) ([]ir.Dim, error) {
	shape := make([]ir.Dim, len(want))
	open, rest := -1, ir.Product(from...)
	others := ir.Const(1)
	for i, d := range want {
		n, isConst := d.Int()
		switch {
		case isConst && n == -1:
			if open >= 0 {
				return nil, fmt.Errorf("shape %s has more than one -1", shapeText(want))
			}
			open = i
			continue
		case isConst && n < 0:
			return nil, fmt.Errorf("shape %s has a negative extent", shapeText(want))
		case isConst && n == 0 && !allowZero:
			if i >= len(from) {
				return nil, fmt.Errorf("element %d of shape %s is 0, the operand has rank %d", i, shapeText(want), len(from))
			}
			d = from[i]
		}
		shape[i] = d
		others = others.Mul(d)
	}
	if open < 0 {
		return shape, nil
	}
	if n, ok := others.Int(); ok && n == 0 {
		return nil, fmt.Errorf("the -1 of shape %s beside an extent of 0 has no value", shapeText(want))
	}
	shape[open] = divide(rest, others)
	return shape, nil
}

// divide returns a / b where b divides a, rounded down where that shows only
// when the model runs.
func divide(a, b ir.Dim) ir.Dim {
	if q, ok := a.DivExact(b); ok {
		return q
	}
	return a.FloorDiv(b)
}

// IsIdentity reports true.
func (Reshape) IsIdentity(ir.Type) bool { return true }

// Movement takes all elements in order.
func (Reshape) Movement() Movement { return Rearranges }

// EmptyLanes are zero.
func (Reshape) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
