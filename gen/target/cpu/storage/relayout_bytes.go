package storage

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Operators on channel-blocked bytes.

// relayoutConvInteger is the [rule] of convolutions of bytes. It convolves blocked bytes over one or two spatial
// axes. It converts the weights to i8. The zero point of the converted weights must be constant. If it is not zero, a
// second set of weights subtracts it, see [negated].
func relayoutConvInteger(b *ir.Builder, n *ir.Node, o op.ConvInteger, l Layouts) *ir.Value {
	x, w, w0 := n.Arg(0), n.Arg(1), n.Arg(3)
	shape, ok := w.Type.Static()
	if !ok || o.To == ir.Invalid || !blockable(x.Type) || shape[0] == 0 || shape[1] == 0 {
		return nil
	}
	channels, spatial := shape[1]*o.Group, len(o.Kernel)
	depthwise := o.Group > 1 && o.Group == channels && shape[0] == channels
	others, ok := negated(b, normal(b, w0, w.Type.DType, ir.I8), w)
	if !ok || others != nil && (depthwise || o.Dilation(spatial-1) != 1) {
		return nil
	}
	p := convProduct(b, n, o, false)
	x0 := normal(b, p.x0, x.Type.DType, ir.U8)
	pads := o.Padding(x.Type.Shape[2:])
	if !slices.ContainsFunc(pads, func(d dim.Dim) bool { return !d.Equal(dim.Const(0)) }) {
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
		bias = op.ReshapeTo(b, bias, dim.Const(shape[0]))
	}
	if !op.HasOneElement(scale.Type) {
		scale = op.ReshapeTo(b, scale, dim.Const(shape[0]))
	}
	r, last := unsigned(b, o.Requantize, p.last)
	var y *ir.Value
	if strides, dilations := o.EachStride(spatial), o.EachDilation(spatial); depthwise {
		y = b.Node(DepthwiseBytes{Strides: strides, Dilations: dilations, C: channels, KW: o.Kernel[spatial-1], Requantize: r},
			x, b.Node(PackDepthwiseBytes{}, w), bias, scale, last)
	} else {
		pack := PackConvBytes{Group: o.Group, InBlock: lanes}
		packed := b.Node(pack, w)
		if others != nil {
			packed = b.Node(op.Concat{Axis: 1}, packed, b.Node(pack, others))
		}
		y = b.Node(ConvBytes{Strides: strides, Dilations: dilations, InC: channels, OutC: shape[0], Group: o.Group, Requantize: r},
			x, packed, bias, scale, last)
	}
	return withExtents(b, y, n)
}

// withExtents returns y, the blocked form of n's result, with the spatial extents of n's result.
// The extents of y may be other expressions of the same value. For example, n's result has
// ⌈extent/stride⌉ rows, but the rows of y are an expression in the extent of a padded operand.
func withExtents(b *ir.Builder, y *ir.Value, n *ir.Node) *ir.Value {
	t := ir.TensorOf(y.Type.DType, slices.Clone(y.Type.Shape)...)
	copy(t.Shape[2:t.Rank()-1], n.Results[0].Type.Shape[2:])
	if t.Equal(y.Type) {
		return y
	}
	return b.Node(ir.Assume{Type: t}, y)
}

// negated appends a second set of weights. Its elements are −zero as i8, repeated to the shape of w. If the sums of
// both sets are added, the result is Σ x·(w − zero). zero is i32 with one element or one for each channel. v is nil
// if zero is nil or 0. ok is false if zero is not constant or −zero does not fit i8.
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
	return op.ExpandTo(b, b.Const(by), w.Type.Shape...), true
}

// unsigned returns r and its zero point for results of u8. If r converts to u8, both are unchanged.
// If r converts to i8, the bounds and the zero point are shifted by 128.
func unsigned(b *ir.Builder, r op.Requantize, zero *ir.Value) (op.Requantize, *ir.Value) {
	if r.To == ir.U8 {
		return r, zero
	}
	lo, hi := r.Bounds()
	if zero = normal(b, zero, ir.I8, ir.U8); zero.Type.Rank() == 0 {
		zero = op.ReshapeTo(b, zero, dim.Const(1))
	}
	return op.Requantize{To: ir.U8, Clamp: true, Lo: lo + 128, Hi: hi + 128}, zero
}

// movedZero returns the zero point of blocked bytes. `zero` is the zero point of the bytes before
// they were blocked, of type t; nil means 0. For u8 the result is `zero`. For i8 it is a constant,
// shifted by 128; ok is false if `zero` is neither nil nor a constant of one element.
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

// relayoutDequantizeLinear is the [rule] of dequantisation. It dequantises blocked bytes with one
// scale to f32.
func relayoutDequantizeLinear(b *ir.Builder, n *ir.Node, o op.DequantizeLinear, l Layouts) *ir.Value {
	x, scale := n.Arg(0), n.Arg(1)
	blocked := l.Blocked(x)
	if blocked == nil || o.To != ir.F32 || !op.HasOneElement(scale.Type) {
		return nil
	}
	zero, ok := movedZero(b, n.Arg(2), x.Type.DType)
	if !ok {
		return nil
	}
	return b.Node(op.DequantizeLinear{To: ir.F32}, blocked, scale, zero)
}

// relayoutQuantizeLinear is the [rule] of quantisation. It quantises blocked f32 with one scale to
// bytes.
func relayoutQuantizeLinear(b *ir.Builder, n *ir.Node, o op.QuantizeLinear, l Layouts) *ir.Value {
	x, scale, y := n.Arg(0), n.Arg(1), n.Results[0].Type
	blocked := l.Blocked(x)
	if blocked == nil || !isByte(y) || x.Type.DType != ir.F32 || !op.HasOneElement(scale.Type) {
		return nil
	}
	zero, ok := movedZero(b, n.Arg(2), y.DType)
	if !ok {
		return nil
	}
	return b.Node(op.QuantizeLinear{To: ir.U8, Precision: o.Precision}, blocked, scale, zero)
}

// relayoutByteTable is the [rule] of tables. It maps blocked bytes by a constant table. If operand or result were
// shifted from i8, it adapts the table to the shift.
func relayoutByteTable(b *ir.Builder, n *ir.Node, o op.ByteTable, l Layouts) *ir.Value {
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
	t := ir.NewTensor(to, byteValues)
	for i := range byteValues {
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
	return b.Node(op.ByteTable{}, blocked, b.Const(t))
}

const byteValues = 1 << 8
