package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Reshape returns its operand with another shape. The elements keep their row-major order.
type Reshape struct{ Shape []dim.Dim }

// Infer returns the operand's element type with the shape Shape. It returns an error if Shape cannot have as many
// elements as the operand. If the numbers of elements are not provably equal, a node before it must check them at run
// time.
func (op Reshape) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if have, want := in[0].Elems(), dim.Product(op.Shape...); !have.Equal(want) {
		if lo, hi := have.Sub(want).Bounds(); lo > 0 || hi < 0 {
			return nil, fmt.Errorf("%s does not have the %s elements of shape %s", in[0], want, ShapeText(op.Shape))
		}
	}
	return []ir.Type{ir.TensorOf(in[0].DType, op.Shape...)}, nil
}

// ShapeText returns a shape as the text form of types has it, "[N,3]".
func ShapeText(shape []dim.Dim) string {
	return ir.TensorOf(ir.F32, shape...).String()[len(ir.F32.String()):]
}

// Eval returns the operand's elements with the shape Shape. It returns an error if the numbers of
// elements differ.
func (op Reshape) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	shape, ok := dim.Ints(op.Shape)
	if !ok {
		return nil, fmt.Errorf("shape %s has no value", ShapeText(op.Shape))
	}
	n, err := ir.CheckedLen(shape)
	if err != nil {
		return nil, err
	}
	if n != in[0].Len() {
		return nil, fmt.Errorf("%s does not have the %d elements of shape %s", in[0].Type(), n, ShapeText(op.Shape))
	}
	return []*ir.Tensor{in[0].Reshape(shape...)}, nil
}

// InferElems returns the elements of the operand.
func (Reshape) InferElems(in []*ir.Value, _ ir.Type) []ir.Ratio { return in[0].Elems }

// IsView marks the result as the memory of the operand.
func (Reshape) IsView() {}

// Grad returns dy in the operand's shape.
func (Reshape) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{ReshapeTo(b, dy[0], n.Arg(0).Type.Shape...)}
}

// ReshapeTo appends a Reshape of x to shape, or returns x if x already has this shape. If the two shapes do not
// provably have the same number of elements, it first appends a check.
func ReshapeTo(b *ir.Builder, x *ir.Value, shape ...dim.Dim) *ir.Value {
	if x.Type.Equal(ir.TensorOf(x.Type.DType, shape...)) {
		return x
	}
	if have, want := x.Type.Elems(), dim.Product(shape...); !have.Equal(want) && !want.Overflow() {
		b.Nodes(ir.CheckDim{A: have, B: want, What: "elements of reshape"})
	}
	return b.Node(Reshape{Shape: shape}, x)
}

func importReshape(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	allowZero := c.Opset() >= 14 && c.Int("allowzero", 0) != 0
	var want []dim.Dim
	if c.Opset() < 5 {
		c.Ints("consumed_inputs", nil)
		want = dim.Consts(c.Ints("shape", nil)...)
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
	return []*ir.Value{ReshapeTo(c.Builder(), x, shape...)}, nil
}

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

// resolveShape returns the shape of the result of a Reshape of a tensor of shape `from`. It is the requested shape
// `want` with two replacements. −1 becomes the extent with which the result has as many elements as `from`. 0 becomes
// the extent of the same axis of `from`, unless allowZero is set.
func resolveShape(from, want []dim.Dim, allowZero bool) ([]dim.Dim, error) {
	shape := make([]dim.Dim, len(want))
	open, rest := -1, dim.Product(from...)
	others := dim.Const(1)
	for i, d := range want {
		n, isConst := d.Int()
		switch {
		case isConst && n == -1:
			if open >= 0 {
				return nil, fmt.Errorf("shape %s has more than one -1", ShapeText(want))
			}
			open = i
			continue
		case isConst && n < 0:
			return nil, fmt.Errorf("shape %s has a negative extent", ShapeText(want))
		case isConst && n == 0 && !allowZero:
			if i >= len(from) {
				return nil, fmt.Errorf("element %d of shape %s is 0, the operand has rank %d", i, ShapeText(want), len(from))
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
		return nil, fmt.Errorf("the -1 of shape %s beside an extent of 0 has no value", ShapeText(want))
	}
	shape[open] = divide(rest, others)
	return shape, nil
}

// divide returns a/b. It rounds down unless b is known to divide a.
func divide(a, b dim.Dim) dim.Dim {
	if q, ok := a.DivExact(b); ok {
		return q
	}
	return a.FloorDiv(b)
}

// IsIdentity returns true. It is called for a Reshape to the operand's own shape, which has no effect.
func (Reshape) IsIdentity(ir.Type) bool { return true }

// Movement returns Rearranges: the result consists of all elements, in order.
func (Reshape) Movement() Movement { return Rearranges }
