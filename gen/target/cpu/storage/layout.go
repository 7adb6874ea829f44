package storage

import (
	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Layouts tells [Relayout] which values exist in channel-blocked form, and of which type:
//
//	planar                 channel-blocked
//	f32[N,C,spatial…]      f32[N,⌈C/16⌉,spatial…,16]
//	u8 or i8[N,C,spatial…] u8[N,⌈C/16⌉,spatial…,16]; elements of i8 are shifted by 128
//
// There are at most two spatial axes. Lanes beyond C are finite.
type Layouts interface {
	// Blocked returns the blocked form of v if there is one, else nil.
	Blocked(v *ir.Value) *ir.Value
	// Block returns the blocked form of v and creates it if necessary. It returns nil if v cannot have
	// one.
	Block(v *ir.Value) *ir.Value
	// ZeroLanes reports whether the lanes beyond the channels in the blocked form of v are zero.
	ZeroLanes(v *ir.Value) bool
	// Tile returns the best Winograd tile for a 3×3 convolution with stride 1, or 0 for the direct
	// algorithm.
	Tile(c cost.Conv) int
	// Raw reports whether the function packs weights at each call, as training does.
	Raw() bool
}

// Relayout builds the result of n from blocked operands. It returns the blocked form of the result,
// or the result itself if it has no blocked form. It returns nil to leave n unchanged.
func Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	if r := ruleOf(n.Op); r != nil {
		return r(b, n, l)
	}
	return nil
}

// HasRelayout reports whether nodes of an operator may be computed on blocked operands.
func HasRelayout(o ir.Op) bool { return ruleOf(o) != nil }

// A rule is [Relayout] for one operator. It returns nil to leave the node unchanged.
type rule func(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value

func ruleOf(o ir.Op) rule {
	switch o := o.(type) {
	case op.AveragePool:
		return with(o, relayoutAveragePool)
	case op.ByteTable:
		return with(o, relayoutByteTable)
	case op.Concat:
		return with(o, relayoutConcat)
	case op.Conv:
		return with(o, relayoutConv)
	case op.ConvData:
		return with(o, relayoutConvData)
	case op.ConvInteger:
		return with(o, relayoutConvInteger)
	case op.ConvWeights:
		return with(o, relayoutConvWeights)
	case op.DequantizeLinear:
		return with(o, relayoutDequantizeLinear)
	case op.GlobalAveragePool:
		return with(o, relayoutGlobalAveragePool)
	case op.LRN:
		return with(o, relayoutLRN)
	case op.MaxPool:
		return with(o, relayoutMaxPool)
	case op.MaxPoolGrad:
		return with(o, relayoutMaxPoolGrad)
	case op.Pad:
		return with(o, relayoutPad)
	case op.QuantizeLinear:
		return with(o, relayoutQuantizeLinear)
	case op.Reduce:
		return with(o, relayoutReduce)
	case op.Reshape:
		return with(o, relayoutReshape)
	case op.Resize:
		return with(o, relayoutResize)
	case op.Slice:
		return with(o, relayoutSlice)
	case op.Transpose:
		return with(o, relayoutTranspose)
	case op.ChannelMix:
		return relayoutChannelMix
	case op.ChannelMoments:
		return relayoutChannelMoments
	case op.ChannelSums:
		return relayoutChannelSums
	}
	return nil
}

func with[T ir.Op](o T, f func(b *ir.Builder, n *ir.Node, o T, l Layouts) *ir.Value) rule {
	return func(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value { return f(b, n, o, l) }
}

// blockable reports whether values of type t can have a channel-blocked form.
func blockable(t ir.Type) bool {
	if t.DType != ir.F32 && !isByte(t) || t.Rank() < 3 || t.Rank() > 2+op.MaxSpatial {
		return false
	}
	c, ok := t.Shape[1].Int()
	return ok && c > 0
}

// Blocked returns the type of the channel-blocked form of a value of type t. It returns false if
// there is no such form.
func Blocked(t ir.Type) (ir.Type, bool) {
	if !blockable(t) {
		return ir.Type{}, false
	}
	if isByte(t) {
		return bytesBlocked(t.Shape[0], t.Shape[1], t.Shape[2:], block), true
	}
	return op.BlockedType(t.Shape[0], t.Shape[1], t.Shape[2:]), true
}

func isByte(t ir.Type) bool { return t.DType == ir.U8 || t.DType == ir.I8 }

// ToBlocked appends to b the conversion of x to its blocked form. The result shares the memory of x
// if [sameMemory] is true for the type of x.
func ToBlocked(b *ir.Builder, x *ir.Value) *ir.Value {
	if t, _ := Blocked(x.Type); sameMemory(x.Type) {
		return b.Node(op.Reshape{Shape: t.Shape}, x)
	}
	if isByte(x.Type) {
		return b.Node(BlockBytes{Lanes: block}, x)
	}
	return b.Node(Block{}, x)
}

// FromBlocked appends to b the conversion of y, a blocked form, to a value of type t. The result
// shares the memory of y if [sameMemory] is true for t.
func FromBlocked(b *ir.Builder, y *ir.Value, t ir.Type) *ir.Value {
	if sameMemory(t) {
		return b.Node(op.Reshape{Shape: t.Shape}, y)
	}
	c, _ := t.Shape[1].Int()
	if isByte(t) {
		return b.Node(UnblockBytes{C: c, To: t.DType}, y)
	}
	return b.Node(Unblock{C: c}, y)
}

// sameMemory reports whether a value of type t and its blocked form have the same elements in the
// same order: each image has one pixel, no lanes are empty, and bytes are not shifted.
func sameMemory(t ir.Type) bool {
	return wholeBlocks(t) && t.DType != ir.I8 && dim.Product(t.Shape[2:]...).Equal(dim.Const(1))
}

// wholeBlocks reports whether the number of channels of t is a multiple of 16, so that no lanes are
// empty.
func wholeBlocks(t ir.Type) bool {
	return t.Shape[1].Mod(dim.Const(block)).Equal(dim.Const(0))
}
