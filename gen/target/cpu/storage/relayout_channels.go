package storage

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// Operators along the channels of channel-blocked operands.

// relayoutLRN normalises a blocked operand.
func relayoutLRN(b *ir.Builder, n *ir.Node, o op.LRN, l Layouts) *ir.Value {
	x := l.Blocked(n.Arg(0))
	if x == nil || !l.ZeroLanes(n.Arg(0)) {
		return nil
	}
	o.Blocked = true
	return b.Node(o, x)
}

// relayoutChannelMoments reads a channel-blocked operand.
func relayoutChannelMoments(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	args, c := blockAll(l, n.Args...)
	if args == nil {
		return nil
	}
	return b.Node(op.ChannelMoments{Channels: op.Channels{C: c}}, args...)
}

// relayoutChannelSums reads channel-blocked operands.
func relayoutChannelSums(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	args, c := blockAll(l, n.Args[:2]...)
	if args == nil {
		return nil
	}
	return b.Node(op.ChannelSums{Channels: op.Channels{C: c}}, append(args, n.Arg(2))...)
}

// relayoutChannelMix computes on channel-blocked operands.
func relayoutChannelMix(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	args, c := blockAll(l, n.Args[:2]...)
	if args == nil {
		return nil
	}
	return b.Node(op.ChannelMix{Channels: op.Channels{C: c}}, append(args, n.Arg(2))...)
}

// blockAll returns the blocked forms of operands of one type, if at least one of them is blocked,
// and nil otherwise.
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
