package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// Operators on bytes that are channel-blocked.

// Relayout convolves blocked bytes over one or two spatial axes. A zero point of the
// weights beyond their type's has to be constant, and counts as other weights.
func (op ConvInteger) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x, w, w0 := n.Arg(0), n.Arg(1), n.Arg(3)
	shape, ok := w.Type.Static()
	if !ok || op.To == ir.Invalid || !blockable(x.Type) || shape[0] == 0 || shape[1] == 0 {
		return nil
	}
	channels, spatial := shape[1]*op.Group, len(op.Kernel)
	depthwise := op.Group > 1 && op.Group == channels && shape[0] == channels
	others, ok := negated(b, normal(b, w0, w.Type.DType, ir.I8), w)
	if !ok || others != nil && (depthwise || op.dilation(spatial-1) != 1) {
		return nil
	}
	p := op.product(b, n, false)
	x0 := normal(b, p.x0, x.Type.DType, ir.U8)
	pads := op.pads(x.Type.Shape[2:])
	if !slices.ContainsFunc(pads, func(d ir.Dim) bool { return !d.Equal(ir.Const(0)) }) {
		pads = nil
	}
	lanes := block
	switch form := l.Blocked(x); {
	case form == nil && !depthwise && channels <= 4:
		lanes = 4
		x = b.Node(BlockBytes{Lanes: lanes, Pads: pads}, x, x0)
	case form == nil && pads != nil:
		x = b.Node(BlockBytes{Lanes: lanes, Pads: pads}, x, x0)
	default:
		if x = l.Block(x); pads != nil {
			x = b.Node(PadBytes{Pads: pads}, x, x0)
		}
	}
	bias, scale := p.bias, p.scale
	if bias != nil {
		bias = reshape(b, bias, ir.Const(shape[0]))
	}
	if !isOne(scale.Type) {
		scale = reshape(b, scale, ir.Const(shape[0]))
	}
	r, last := op.unsigned(b, p.last)
	var y *ir.Value
	if strides, dilations := op.strides(spatial), op.dilations(spatial); depthwise {
		y = b.Node(DepthwiseBytes{Strides: strides, Dilations: dilations, C: channels, KW: op.Kernel[spatial-1], Requantize: r},
			x, b.Node(PackDepthwiseBytes{}, w), bias, scale, last)
	} else {
		pack := PackConvBytes{Group: op.Group, InBlock: lanes}
		packed := b.Node(pack, w)
		if others != nil {
			packed = b.Node(Concat{Axis: 1}, packed, b.Node(pack, others))
		}
		y = b.Node(ConvBytes{Strides: strides, Dilations: dilations, InC: channels, OutC: shape[0], Group: op.Group, Requantize: r},
			x, packed, bias, scale, last)
	}
	return withExtents(b, y, n)
}

// withExtents appends a blocked result with the spatial extents that n's result has.
// Over an operand padded for as many windows as strides, these are ⌈extent/stride⌉,
// which nothing proves of the padded one.
func withExtents(b *ir.Builder, y *ir.Value, n *ir.Node) *ir.Value {
	t := ir.TensorOf(y.Type.DType, slices.Clone(y.Type.Shape)...)
	copy(t.Shape[2:t.Rank()-1], n.Results[0].Type.Shape[2:])
	if t.Equal(y.Type) {
		return y
	}
	return b.Node(ir.Assume{Type: t}, y)
}

// negated appends the weights, i8, that count for a zero point of w, i32 with an element
// for each channel or one for all; nil where there is nothing to count. It fails where
// the zero point is no constant, or its negative no i8.
func negated(b *ir.Builder, zero, w *ir.Value) (v *ir.Value, ok bool) {
	if isNought(zero) {
		return nil, true
	}
	t, ok := zero.ConstValue()
	if !ok {
		return nil, false
	}
	by := ir.NewTensor(ir.I8, append([]int{t.Len()}, slices.Repeat([]int{1}, w.Type.Rank()-1)...)...)
	for i := range t.Len() {
		if t.Int(i) == -128 {
			return nil, false
		}
		by.SetInt(i, -t.Int(i))
	}
	return expand(b, b.Const(by), w.Type.Shape...), true
}

// unsigned returns what makes u8 of sums where r makes i8 that then move by 128, and
// its zero point, i32 or nil.
func (r Requantize) unsigned(b *ir.Builder, zero *ir.Value) (Requantize, *ir.Value) {
	if r.To == ir.U8 {
		return r, zero
	}
	lo, hi := r.bounds()
	if zero = normal(b, zero, ir.I8, ir.U8); zero.Type.Rank() == 0 {
		zero = reshape(b, zero, ir.Const(1))
	}
	return Requantize{To: ir.U8, Clamp: true, Lo: lo + 128, Hi: hi + 128}, zero
}

// movedZero appends the zero point of blocked bytes that were of type t, u8 of one
// element, nil for 0; it fails where it is not constant.
func movedZero(b *ir.Builder, zero *ir.Value, t ir.DType) (v *ir.Value, ok bool) {
	if t == ir.U8 {
		return zero, true
	}
	at := int64(0)
	if zero != nil {
		c, ok := zero.ConstValue()
		if !ok || c.Len() != 1 {
			return nil, false
		}
		at = c.Int(0)
	}
	return b.Const(ir.Scalar(ir.U8, float64(moved(at, ir.I8, ir.U8)))), true
}

// Relayout dequantises blocked bytes by one scale.
func (op DequantizeLinear) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x, scale := n.Arg(0), n.Arg(1)
	blocked := l.Blocked(x)
	if blocked == nil || op.To != ir.F32 || !isOne(scale.Type) {
		return nil
	}
	zero, ok := movedZero(b, n.Arg(2), x.Type.DType)
	if !ok {
		return nil
	}
	return b.Node(DequantizeLinear{To: ir.F32}, blocked, scale, zero)
}

// Relayout quantises blocked floats by one scale.
func (op QuantizeLinear) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x, scale, y := n.Arg(0), n.Arg(1), n.Results[0].Type
	blocked := l.Blocked(x)
	if blocked == nil || !isByte(y) || x.Type.DType != ir.F32 || !isOne(scale.Type) {
		return nil
	}
	zero, ok := movedZero(b, n.Arg(2), y.DType)
	if !ok {
		return nil
	}
	return b.Node(QuantizeLinear{To: ir.U8, Precision: op.Precision}, blocked, scale, zero)
}

// Relayout looks blocked bytes up.
func (ByteTable) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x, y := n.Arg(0).Type, n.Results[0].Type
	blocked := l.Blocked(n.Arg(0))
	table, ok := n.Arg(1).ConstValue()
	if blocked == nil || !ok || !isByte(y) && y.DType != ir.F32 {
		return nil
	}
	to := y.DType
	if isByte(y) {
		to = ir.U8
	}
	t := ir.NewTensor(to, tableSize)
	for i := range tableSize {
		from := i
		if x.DType == ir.I8 {
			from ^= 0x80
		}
		if to == ir.U8 {
			t.SetInt(i, moved(table.Int(from), y.DType, ir.U8))
		} else {
			t.SetFloat(i, table.Float(from))
		}
	}
	return b.Node(ByteTable{}, blocked, b.Const(t))
}
