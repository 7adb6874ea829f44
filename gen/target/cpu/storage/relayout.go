package storage

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Operators that move elements, or reduce over the spatial axes, on channel-blocked operands.

// relayoutConcat is the [rule] of concatenations. It concatenates the blocked forms of the operands if one of them
// is blocked already. Blocks cannot be concatenated along the axis of channels if an operand before the last has a
// number of channels that is not a multiple of 16. relayoutConcat then gathers the channels, see [GatherChannels].
func relayoutConcat(b *ir.Builder, n *ir.Node, o op.Concat, l Layouts) *ir.Value {
	if !blockable(n.Results[0].Type) || !slices.ContainsFunc(n.Args, func(v *ir.Value) bool { return l.Blocked(v) != nil }) {
		return nil
	}
	ragged := false
	for i, v := range n.Args {
		if !blockable(v.Type) {
			return nil
		}
		ragged = ragged || o.Axis == 1 && i < len(n.Args)-1 && !wholeBlocks(v.Type)
	}
	if ragged {
		var channels []gathered
		for _, v := range n.Args {
			channels = append(channels, channelsOf(v, l)...)
		}
		return gatherChannels(b, channels)
	}
	args := make([]*ir.Value, len(n.Args))
	for i, v := range n.Args {
		args[i] = l.Block(v)
	}
	return b.Node(o, args...)
}

// relayoutSlice is the [rule] of slices. It slices a blocked operand. Channels keep their lanes if they are
// consecutive, begin at a multiple of 16, and end at a multiple of 16 or at the last channel. Otherwise they are
// gathered, see [GatherChannels].
func relayoutSlice(b *ir.Builder, n *ir.Node, o op.Slice, l Layouts) *ir.Value {
	x, y := n.Arg(0), n.Results[0].Type
	blocked := l.Blocked(x)
	if blocked == nil || !blockable(y) {
		return nil
	}
	first, ok := o.Starts[1].Int()
	last := o.Starts[1].Add(o.Shape[1])
	if !ok || o.Steps[1] != 1 || first%block != 0 || !wholeBlocks(y) && !last.Equal(x.Type.Shape[1]) {
		if !ok || !onlyChannels(x.Type, y) {
			return nil
		}
		all := channelsOf(x, l)
		count, _ := y.Shape[1].Int()
		channels := make([]gathered, count)
		for i := range channels {
			channels[i] = all[first+i*o.Steps[1]]
		}
		return gatherChannels(b, channels)
	}
	s := op.Slice{
		Starts: append(slices.Clone(o.Starts), dim.Const(0)),
		Shape:  op.BlockedType(o.Shape[0], o.Shape[1], o.Shape[2:]).Shape,
		Steps:  append(slices.Clone(o.Steps), 1),
	}
	s.Starts[1] = dim.Const(first / block)
	return op.ApplySlice(b, blocked, s)
}

// onlyChannels reports whether two types differ at most in their channels.
func onlyChannels(t, u ir.Type) bool {
	if t.Rank() != u.Rank() {
		return false
	}
	for i, d := range t.Shape {
		if i != 1 && !d.Equal(u.Shape[i]) {
			return false
		}
	}
	return true
}

// relayoutReshape is the [rule] of reshapes. A channel shuffle splits the axis of channels in two, swaps the two
// axes, and merges them again. If n is the last step of a shuffle, relayoutReshape shuffles the channels of the
// blocked operand. Other reshapes stay unchanged.
func relayoutReshape(b *ir.Builder, n *ir.Node, o op.Reshape, l Layouts) *ir.Value {
	y := n.Results[0].Type
	swapped := n.Arg(0)
	if !blockable(y) || swapped.Def == nil {
		return nil
	}
	divided := swapped.Def.Arg(0)
	if divided == nil || divided.Def == nil || divided.Type.Rank() != y.Rank()+1 || !swapsChannels(swapped.Def.Op, divided.Type) {
		return nil
	}
	x := divided.Def.Arg(0)
	if _, ok := divided.Def.Op.(op.Reshape); !ok || !x.Type.Equal(y) || l.Blocked(x) == nil {
		return nil
	}
	parts, ok := divided.Type.Shape[1].Int()
	if !ok || parts < 1 || !divided.Type.Shape[0].Equal(y.Shape[0]) || !slices.EqualFunc(divided.Type.Shape[3:], y.Shape[2:], dim.Dim.Equal) {
		return nil
	}
	all := channelsOf(x, l)
	channels := make([]gathered, len(all))
	for i := range channels {
		channels[i] = all[i%parts*(len(all)/parts)+i/parts]
	}
	return gatherChannels(b, channels)
}

// swapsChannels reports whether o swaps axes 1 and 2 of an operand of type t.
func swapsChannels(o ir.Op, t ir.Type) bool {
	perm := op.AllAxes(t.Rank())
	perm[1], perm[2] = 2, 1
	switch o := o.(type) {
	case op.Transpose:
		return slices.Equal(o.Perm, perm)
	case op.StridedCopy:
		from := op.RowMajor(t.Shape)
		for i, p := range perm {
			if len(o.Shape) != len(perm) || !o.Shape[i].Equal(t.Shape[p]) || !o.Strides[i].Equal(from[p]) {
				return false
			}
		}
		return o.Offset.Equal(dim.Const(0))
	}
	return false
}

// relayoutPad is the [rule] of padding. It pads the spatial axes of a blocked operand with zeros or,
// if there are no empty lanes, with any constant.
func relayoutPad(b *ir.Builder, n *ir.Node, o op.Pad, l Layouts) *ir.Value {
	x := n.Arg(0)
	blocked := l.Blocked(x)
	pads, fill, ok := spatialPads(n, o)
	if blocked == nil || !ok || fill != 0 && !wholeBlocks(x.Type) {
		return nil
	}
	return b.Node(PadBlocked{Pads: pads, Fill: fill}, blocked)
}

// spatialPads returns the padding of a node that pads only the spatial axes of an f32 tensor with a
// constant, `fill`. pads are the numbers of cells before each axis, and then the numbers of cells
// after each axis. ok is false for other nodes.
func spatialPads(n *ir.Node, o op.Pad) (pads []dim.Dim, fill float32, ok bool) {
	if o.Mode != "constant" || n.Arg(0).Type.DType != ir.F32 || len(o.Before) <= 2 {
		return nil, 0, false
	}
	if v := n.Arg(1); v != nil {
		c, ok := v.ConstValue()
		if !ok {
			return nil, 0, false
		}
		fill = float32(c.Float(0))
	}
	zero := dim.Const(0)
	for i := range 2 {
		if !o.Before[i].Equal(zero) || !o.After[i].Equal(zero) {
			return nil, 0, false
		}
	}
	return slices.Concat(o.Before[2:], o.After[2:]), fill, true
}

// relayoutResize is the [rule] of resizing. It resizes the spatial axes of a blocked operand. If
// elements are interpolated, the operand must be f32 and its empty lanes zero.
func relayoutResize(b *ir.Builder, n *ir.Node, o op.Resize, l Layouts) *ir.Value {
	x, y := n.Arg(0), n.Results[0].Type
	blocked := l.Blocked(x)
	if blocked == nil || n.Arg(1) != nil || o.Coordinates == op.CropAndResizeCoordinates || o.Mode != "nearest" && (isByte(x.Type) || !l.ZeroLanes(x)) {
		return nil
	}
	for i := range 2 {
		if !o.Keeps(i, x.Type.Shape[i]) {
			return nil
		}
	}
	o.Shape = op.BlockedType(y.Shape[0], y.Shape[1], y.Shape[2:]).Shape
	o.Scales = append(slices.Clone(o.Scales), 1)
	return b.Node(o, blocked)
}

// relayoutTranspose is the [rule] of transpositions. It reads a blocked operand if its number of
// channels is a multiple of 16 or at most 16, and its type is not i8. The result is planar.
func relayoutTranspose(b *ir.Builder, n *ir.Node, o op.Transpose, l Layouts) *ir.Value {
	x := n.Arg(0)
	blocked := l.Blocked(x)
	if blocked == nil || x.Type.DType == ir.I8 {
		return nil
	}
	from, whole := op.RowMajor(blocked.Type.Shape), wholeBlocks(x.Type)
	if !whole && !blocked.Type.Shape[1].Equal(dim.Const(1)) {
		return nil
	}
	var read op.StridedCopy
	for _, p := range o.Perm {
		switch {
		case p != 1:
			read.Shape, read.Strides = append(read.Shape, x.Type.Shape[p]), append(read.Strides, from[p])
		case whole:
			read.Shape = append(read.Shape, blocked.Type.Shape[1], dim.Const(block))
			read.Strides = append(read.Strides, from[1], dim.Const(1))
		default:
			read.Shape, read.Strides = append(read.Shape, x.Type.Shape[1]), append(read.Strides, dim.Const(1))
		}
	}
	return op.ReshapeTo(b, b.Node(read, blocked), n.Results[0].Type.Shape...)
}

// relayoutReduce is the [rule] of reductions. It replaces a mean over all spatial axes by an [op.GlobalAveragePool].
// The operand must be blocked and have zeros in the empty lanes. Other reductions stay unchanged.
func relayoutReduce(b *ir.Builder, n *ir.Node, o op.Reduce, l Layouts) *ir.Value {
	x := n.Arg(0)
	blocked := l.Blocked(x)
	if blocked == nil || x.Type.DType != ir.F32 || o.Kind != op.ReduceMean || !slices.Equal(o.Axes, op.SpatialAxes(x.Type)) || !l.ZeroLanes(x) {
		return nil
	}
	y := b.Node(op.GlobalAveragePool{Blocked: true}, blocked)
	if o.KeepDims {
		return y
	}
	shape := n.Results[0].Type.Shape
	return op.ReshapeTo(b, FromBlocked(b, y, ir.TensorOf(ir.F32, append(slices.Clone(shape), dim.Consts(slices.Repeat([]int{1}, len(o.Axes))...)...)...)), shape...)
}
