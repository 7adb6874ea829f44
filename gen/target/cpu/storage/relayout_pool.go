package storage

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Pools of channel-blocked operands.

// relayoutAveragePool is the [rule] of average pools. It computes n on the blocked form of the operand. The blocked
// form must exist, and its empty lanes must be zero.
func relayoutAveragePool(b *ir.Builder, n *ir.Node, o op.AveragePool, l Layouts) *ir.Value {
	x := l.Blocked(n.Arg(0))
	if x == nil || !l.ZeroLanes(n.Arg(0)) {
		return nil
	}
	o.Blocked = true
	return b.Node(o, x)
}

// relayoutMaxPool is the [rule] of maximum pools. It computes n on the blocked form of its operand.
// It blocks an operand of bytes that is not blocked yet.
func relayoutMaxPool(b *ir.Builder, n *ir.Node, o op.MaxPool, l Layouts) *ir.Value {
	x := l.Blocked(n.Arg(0))
	if x == nil && isByte(n.Arg(0).Type) {
		x = l.Block(n.Arg(0))
	}
	if x == nil {
		return nil
	}
	if x.Type.DType == ir.U8 {
		return maxPoolBytes(b, n, o, x)
	}
	o.Blocked = true
	return b.Node(o, x)
}

// relayoutGlobalAveragePool is the [rule] of global average pools. It computes n on the blocked form of the operand.
// The blocked form must exist, and its empty lanes must be zero.
func relayoutGlobalAveragePool(b *ir.Builder, n *ir.Node, o op.GlobalAveragePool, l Layouts) *ir.Value {
	x := l.Blocked(n.Arg(0))
	if x == nil || !l.ZeroLanes(n.Arg(0)) {
		return nil
	}
	return b.Node(op.GlobalAveragePool{Blocked: true}, x)
}

// relayoutMaxPoolGrad is the [rule] of gradients of maximum pools. It computes n on the blocked
// forms of x and the gradient, if x is blocked.
func relayoutMaxPoolGrad(b *ir.Builder, n *ir.Node, o op.MaxPoolGrad, l Layouts) *ir.Value {
	x := l.Blocked(n.Arg(0))
	if x == nil || !o.HasKernel(n.Arg(0).Type) {
		return nil
	}
	g := l.Block(n.Arg(1))
	if g == nil {
		return nil
	}
	o.Blocked = true
	return b.Node(o, x, g)
}

// maxPoolBytes appends the nodes that compute the maximum pool n on x. x is the blocked form of n's operand and has
// bytes as elements. Padding is 0, the smallest byte. maxPoolBytes returns nil if o.Ceil is set.
func maxPoolBytes(b *ir.Builder, n *ir.Node, o op.MaxPool, x *ir.Value) *ir.Value {
	spatial := n.Arg(0).Type.Shape[2:]
	if o.Ceil {
		return nil
	}
	for _, d := range o.Padding(spatial) {
		if !d.Equal(dim.Const(0)) {
			x = b.Node(PadBytes{Pads: o.Padding(spatial)}, x)
			break
		}
	}
	y := b.Node(MaxPoolBytes{Kernel: o.Kernel, Strides: o.EachStride(len(spatial)), Dilations: o.EachDilation(len(spatial))}, x)
	return withExtents(b, y, n)
}
