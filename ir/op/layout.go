package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/cost"
)

// BlockLanes is the number of channels in a block of the channel-blocked layout.
const BlockLanes = 16

const block = BlockLanes

// Layouts tells a [Blocker] which values are there channel-blocked: a value
// f32[N,C,spatial…] with at most two spatial axes as f32[N,⌈C/16⌉,spatial…,16], one of u8
// or i8 as u8[N,⌈C/16⌉,spatial…,16], where the elements of i8 move by 128. Lanes beyond C,
// if there are any, are finite.
type Layouts interface {
	// Blocked returns the blocked form of v if there is one, else nil.
	Blocked(v *ir.Value) *ir.Value
	// Block returns the blocked form of v, made when needed; nil when v can have
	// none.
	Block(v *ir.Value) *ir.Value
	// ZeroLanes reports whether the lanes of the blocked form of v beyond its
	// channels are zero.
	ZeroLanes(v *ir.Value) bool
	// Tile returns the tile of the minimal filtering that a convolution of kernel 3×3 and
	// stride 1 is best computed with, 0 where that is none.
	Tile(c cost.Conv) int
	// Raw reports whether the function packs weights each time, as training does.
	Raw() bool
}

// Blocker is an operator that can be computed on channel-blocked operands.
type Blocker interface {
	// Relayout builds, from blocked operands, the blocked form of n's only result,
	// or that result as it is; it returns nil to leave n alone.
	Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value
}

// blockable reports whether a value can have a blocked form.
func blockable(t ir.Type) bool {
	if t.DType != ir.F32 && !isByte(t) || t.Rank() < 3 || t.Rank() > 2+maxSpatial {
		return false
	}
	c, ok := t.Shape[1].Int()
	return ok && c > 0
}

// Blocked returns the type of the channel-blocked form of a value of type t, and
// whether it can have one.
func Blocked(t ir.Type) (ir.Type, bool) {
	if !blockable(t) {
		return ir.Type{}, false
	}
	if isByte(t) {
		return bytesBlocked(t.Shape[0], t.Shape[1], t.Shape[2:], block), true
	}
	return blockedType(t.Shape[0], t.Shape[1], t.Shape[2:]), true
}

// isByte reports whether t is of i8 or u8.
func isByte(t ir.Type) bool { return t.DType == ir.U8 || t.DType == ir.I8 }

// ToBlocked appends the blocked form of x, which is its memory where each pixel
// has whole blocks.
func ToBlocked(b *ir.Builder, x *ir.Value) *ir.Value {
	if t, _ := Blocked(x.Type); sameMemory(x.Type) {
		return b.Node(Reshape{Shape: t.Shape}, x)
	}
	if isByte(x.Type) {
		return b.Node(BlockBytes{Lanes: block}, x)
	}
	return b.Node(Block{}, x)
}

// FromBlocked appends the value of type t of which y is the blocked form.
func FromBlocked(b *ir.Builder, y *ir.Value, t ir.Type) *ir.Value {
	if sameMemory(t) {
		return b.Node(Reshape{Shape: t.Shape}, y)
	}
	c, _ := t.Shape[1].Int()
	if isByte(t) {
		return b.Node(UnblockBytes{C: c, To: t.DType}, y)
	}
	return b.Node(Unblock{C: c}, y)
}

// sameMemory reports whether the blocked form of a value of type t has its
// elements in the same order.
func sameMemory(t ir.Type) bool {
	return wholeBlocks(t) && t.DType != ir.I8 && ir.Product(t.Shape[2:]...).Equal(ir.Const(1))
}

// wholeBlocks reports whether no block of channels has lanes to spare.
func wholeBlocks(t ir.Type) bool {
	return t.Shape[1].Mod(ir.Const(block)).Equal(ir.Const(0))
}
