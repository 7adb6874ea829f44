package pass

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// sinkReshapes swaps an operator and the reshape before it: the operator is applied to the operand
// of the reshape, and its result is reshaped. It handles elementwise operators, softmaxes and
// normalisations, if they compute the same elements on the operand of the reshape. As a result,
// operators directly follow the node that computes their operand, and reshapes meet and cancel.
func sinkReshapes(_ *Context, m *ir.Module) (changed bool, err error) {
	known := fixed{}
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		if len(n.Results) != 1 {
			return nil
		}
		for _, v := range n.Args {
			r, _, ok := madeBy[op.Reshape](v)
			if !ok || known.has(v) || !slices.EqualFunc(v.Type.Shape, n.Results[0].Type.Shape, dim.Dim.Equal) {
				continue
			}
			if y := beforeReshape(b, n, v, r.Args[0]); y != nil {
				return []*ir.Value{b.Node(op.Reshape{Shape: v.Type.Shape}, y)}
			}
		}
		return nil
	})
}

// beforeReshape appends a copy of n that reads x instead of its operand v, and returns the result.
// v is a reshape of x to the shape of n's result. beforeReshape returns nil if n does not compute
// the same elements on x.
func beforeReshape(b *ir.Builder, n *ir.Node, v, x *ir.Value) *ir.Value {
	o := n.Op
	kept := trailing(x.Type.Shape, v.Type.Shape) // axes at the end that both have
	moved := x.Type.Rank() - v.Type.Rank()
	if rows, ok := o.(op.RowWise); ok {
		axis, ok := rows.RowAxis(v.Type.Rank())
		if !ok || v != n.Args[0] || axis < v.Type.Rank()-kept {
			return nil
		}
		return b.Node(rows.AtAxis(axis+moved), slices.Concat([]*ir.Value{x}, n.Args[1:])...)
	}
	if _, ok := o.(op.Elementwise); !ok {
		return nil
	}
	shapes := make([][]dim.Dim, len(n.Args))
	for i, a := range n.Args {
		shape, ok := x.Type.Shape, true
		if a != v {
			shape, ok = operandBefore(a, v, x)
		}
		if !ok {
			return nil
		}
		shapes[i] = shape
	}
	args := make([]*ir.Value, len(n.Args))
	for i, a := range n.Args {
		if args[i] = x; a != v {
			args[i] = reshaped(b, a, shapes[i]...)
		}
	}
	return b.Node(o, args...)
}

func trailing(a, b []dim.Dim) int {
	for i := range min(len(a), len(b)) {
		if !a[len(a)-1-i].Equal(b[len(b)-1-i]) {
			return i
		}
	}
	return min(len(a), len(b))
}

// operandBefore is for an elementwise operator with the operands v and a, where v is a reshape of
// x. It returns the shape to which a must be reshaped if x replaces v. The elements of a then meet
// the same elements of x as before. ok is false if no such shape is known. It is known in these
// cases:
//
//   - a has one element.
//   - The shape of a, without leading extents of 1, is the last extents of v. The last axes of x
//     have as many elements.
//   - a has the shape of v, and is a reshape of a value with the shape of x.
//   - a has the shape of v, x is a matrix product, and a is not.
func operandBefore(a, v, x *ir.Value) (shape []dim.Dim, ok bool) {
	if a == nil {
		return nil, false
	}
	one := dim.Const(1)
	if a.Type.Elems().Equal(one) {
		return nil, true
	}
	if slices.EqualFunc(a.Type.Shape, v.Type.Shape, dim.Dim.Equal) {
		twin, _, isReshape := madeBy[op.Reshape](a)
		same := isReshape && slices.EqualFunc(twin.Args[0].Type.Shape, x.Type.Shape, dim.Dim.Equal)
		return x.Type.Shape, same || isProduct(x) && !isProduct(a)
	}
	have := a.Type.Shape
	for len(have) > 0 && have[0].Equal(one) {
		have = have[1:]
	}
	lead := v.Type.Rank() - len(have)
	if lead < 0 || !slices.EqualFunc(have, v.Type.Shape[lead:], dim.Dim.Equal) {
		return nil, false
	}
	elems, count := dim.Product(have...), one
	for i, d := range slices.Backward(x.Type.Shape) {
		if count = count.Mul(d); count.Equal(elems) {
			return x.Type.Shape[i:], true
		}
	}
	return nil, false
}

func isProduct(v *ir.Value) bool {
	if v.Def == nil {
		return false
	}
	switch v.Def.Op.(type) {
	case op.MatMul, op.Gemm:
		return true
	case op.Add:
		return v.Def.Args[1].Type.Rank() == 1 && isProduct(v.Def.Args[0])
	}
	return false
}
