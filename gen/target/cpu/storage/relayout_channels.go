package storage

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// Operators along the channels of channel-blocked operands.

// relayoutLRN is the [rule] of LRN. It computes n on the blocked form of the operand. It returns nil if there is no
// such form, or if the empty lanes of the form may not be zero.
func relayoutLRN(b *ir.Builder, n *ir.Node, o op.LRN, l Layouts) *ir.Value {
	x := l.Blocked(n.Arg(0))
	if x == nil || !l.ZeroLanes(n.Arg(0)) {
		return nil
	}
	o.Blocked = true
	return b.Node(o, x)
}

// relayoutChannelMoments is the [rule] of [op.ChannelMoments]. It computes n from the blocked form
// of its operand, if there is one.
func relayoutChannelMoments(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	args, c := blockAll(l, n.Args...)
	if args == nil {
		return nil
	}
	return b.Node(op.ChannelMoments{Channels: op.Channels{C: c}}, args...)
}

// relayoutChannelSums is the [rule] of [op.ChannelSums]. It computes n from the blocked forms of its
// first two operands, if one of them is blocked.
func relayoutChannelSums(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	args, c := blockAll(l, n.Args[:2]...)
	if args == nil {
		return nil
	}
	return b.Node(op.ChannelSums{Channels: op.Channels{C: c}}, append(args, n.Arg(2))...)
}

// relayoutChannelMix is the [rule] of [op.ChannelMix]. It computes the blocked result of n from the
// blocked forms of its first two operands, if one of them is blocked.
func relayoutChannelMix(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	args, c := blockAll(l, n.Args[:2]...)
	if args == nil {
		return nil
	}
	return b.Node(op.ChannelMix{Channels: op.Channels{C: c}}, append(args, n.Arg(2))...)
}

// blockAll returns the blocked forms of args, operands of one type, and their number of channels c.
// It returns nil if none of args is blocked yet, or if they are not f32.
func blockAll(l Layouts, args ...*ir.Value) (blocked []*ir.Value, c int) {
	if !slices.ContainsFunc(args, func(v *ir.Value) bool { return l.Blocked(v) != nil }) || args[0].Type.DType != ir.F32 {
		return nil, 0
	}
	for _, v := range args {
		blocked = append(blocked, l.Block(v))
	}
	c, _ = args[0].Type.Shape[1].Int()
	return blocked, c
}
