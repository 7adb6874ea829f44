package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// Operators that move elements, or reduce over the spatial axes, on blocked
// operands.

// Relayout concatenates blocked operands. Channels move between lanes unless all
// operands but the last have whole blocks of them.
func (op Concat) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	if !blockable(n.Results[0].Type) || !slices.ContainsFunc(n.Args, func(v *ir.Value) bool { return l.Blocked(v) != nil }) {
		return nil
	}
	ragged := false
	for i, v := range n.Args {
		if !blockable(v.Type) {
			return nil
		}
		ragged = ragged || op.Axis == 1 && i < len(n.Args)-1 && !wholeBlocks(v.Type)
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
	return b.Node(op, args...)
}

// Relayout slices a blocked operand. Channels move between lanes unless these are whole
// blocks, or all up to the last channel.
func (op Slice) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x, y := n.Arg(0), n.Results[0].Type
	blocked := l.Blocked(x)
	if blocked == nil || !blockable(y) {
		return nil
	}
	first, ok := op.Starts[1].Int()
	last := op.Starts[1].Add(op.Shape[1])
	if !ok || op.Steps[1] != 1 || first%block != 0 || !wholeBlocks(y) && !last.Equal(x.Type.Shape[1]) {
		if !ok || !onlyChannels(x.Type, y) {
			return nil
		}
		all := channelsOf(x, l)
		count, _ := y.Shape[1].Int()
		channels := make([]gathered, count)
		for i := range channels {
			channels[i] = all[first+i*op.Steps[1]]
		}
		return gatherChannels(b, channels)
	}
	s := Slice{
		Starts: append(slices.Clone(op.Starts), ir.Const(0)),
		Shape:  blockedType(op.Shape[0], op.Shape[1], op.Shape[2:]).Shape,
		Steps:  append(slices.Clone(op.Steps), 1),
	}
	s.Starts[1] = ir.Const(first / block)
	return applySlice(b, blocked, s)
}

// onlyChannels reports whether two types differ in their channels at most.
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

// Relayout shuffles the channels of a blocked operand: the axis of channels is divided
// in two, these are exchanged, and become one again.
func (op Reshape) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
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
	if _, ok := divided.Def.Op.(Reshape); !ok || !x.Type.Equal(y) || l.Blocked(x) == nil {
		return nil
	}
	parts, ok := divided.Type.Shape[1].Int()
	if !ok || parts < 1 || !divided.Type.Shape[0].Equal(y.Shape[0]) || !slices.EqualFunc(divided.Type.Shape[3:], y.Shape[2:], ir.Dim.Equal) {
		return nil
	}
	all := channelsOf(x, l)
	channels := make([]gathered, len(all))
	for i := range channels {
		channels[i] = all[i%parts*(len(all)/parts)+i/parts]
	}
	return gatherChannels(b, channels)
}

// swapsChannels reports whether o exchanges axes 1 and 2 of an operand of type t.
func swapsChannels(o ir.Op, t ir.Type) bool {
	perm := allAxes(t.Rank())
	perm[1], perm[2] = 2, 1
	switch o := o.(type) {
	case Transpose:
		return slices.Equal(o.Perm, perm)
	case StridedCopy:
		from := strides(t.Shape)
		for i, p := range perm {
			if len(o.Shape) != len(perm) || !o.Shape[i].Equal(t.Shape[p]) || !o.Strides[i].Equal(from[p]) {
				return false
			}
		}
		return o.Offset.Equal(ir.Const(0))
	}
	return false
}

// Relayout pads the spatial axes of a blocked operand: by zeros, or by any number
// where all lanes are of channels.
func (op Pad) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x := n.Arg(0)
	blocked := l.Blocked(x)
	pads, fill, ok := op.spatial(n)
	if blocked == nil || !ok || fill != 0 && !wholeBlocks(x.Type) {
		return nil
	}
	return b.Node(PadBlocked{Pads: pads, Fill: fill}, blocked)
}

// spatial returns the padding of a node of the spatial axes alone by one number: before
// the first cell of each, then after the last.
func (op Pad) spatial(n *ir.Node) (pads []ir.Dim, fill float32, ok bool) {
	if op.Mode != "constant" || n.Arg(0).Type.DType != ir.F32 || len(op.Before) <= 2 {
		return nil, 0, false
	}
	if v := n.Arg(1); v != nil {
		c, ok := v.ConstValue()
		if !ok {
			return nil, 0, false
		}
		fill = float32(c.Float(0))
	}
	zero := ir.Const(0)
	for i := range 2 {
		if !op.Before[i].Equal(zero) || !op.After[i].Equal(zero) {
			return nil, 0, false
		}
	}
	return slices.Concat(op.Before[2:], op.After[2:]), fill, true
}

// Relayout resizes the spatial axes of a blocked operand.
func (op Resize) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x, y := n.Arg(0), n.Results[0].Type
	blocked := l.Blocked(x)
	if blocked == nil || n.Arg(1) != nil || op.Coordinates == cropAndResize || op.Mode != "nearest" && (isByte(x.Type) || !l.ZeroLanes(x)) {
		return nil
	}
	for i := range 2 {
		if !op.keeps(i, x.Type.Shape[i]) {
			return nil
		}
	}
	op.Shape = blockedType(y.Shape[0], y.Shape[1], y.Shape[2:]).Shape
	op.Scales = append(slices.Clone(op.Scales), 1)
	return b.Node(op, blocked)
}

// Relayout reads a blocked operand in the new order, where its channels are whole
// blocks or part of one.
func (op Transpose) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x := n.Arg(0)
	blocked := l.Blocked(x)
	if blocked == nil || x.Type.DType == ir.I8 {
		return nil
	}
	from, whole := strides(blocked.Type.Shape), wholeBlocks(x.Type)
	if !whole && !blocked.Type.Shape[1].Equal(ir.Const(1)) {
		return nil
	}
	var read StridedCopy
	for _, p := range op.Perm {
		switch {
		case p != 1:
			read.Shape, read.Strides = append(read.Shape, x.Type.Shape[p]), append(read.Strides, from[p])
		case whole:
			read.Shape = append(read.Shape, blocked.Type.Shape[1], ir.Const(block))
			read.Strides = append(read.Strides, from[1], ir.Const(1))
		default:
			read.Shape, read.Strides = append(read.Shape, x.Type.Shape[1]), append(read.Strides, ir.Const(1))
		}
	}
	return reshape(b, b.Node(read, blocked), n.Results[0].Type.Shape...)
}

// Relayout takes the mean over all spatial axes of a blocked operand.
func (op Reduce) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x := n.Arg(0)
	blocked := l.Blocked(x)
	if blocked == nil || x.Type.DType != ir.F32 || op.Kind != ReduceMean || !slices.Equal(op.Axes, spatialAxes(x.Type)) || !l.ZeroLanes(x) {
		return nil
	}
	y := b.Node(GlobalAveragePool{Blocked: true}, blocked)
	if op.KeepDims {
		return y
	}
	shape := n.Results[0].Type.Shape
	return reshape(b, FromBlocked(b, y, ir.TensorOf(ir.F32, append(slices.Clone(shape), ir.Dims(slices.Repeat([]int{1}, len(op.Axes))...)...)...)), shape...)
}
