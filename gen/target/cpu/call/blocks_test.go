package call_test

import (
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// TestBlockPlanes asserts that one spatial axis is the width of a plane of height 1.
func TestBlockPlanes(t *testing.T) {
	checkCalls(t, []called{
		{storage.Block{}, []any{"f32[N,20,7]"}, "Block(y0 a N 20 1 7)"},
		{storage.Block{}, []any{"f32[N,20,5,6]"}, "Block(y0 a N 20 5 6)"},
		{storage.Unblock{C: 20}, []any{"f32[N,2,7,16]"}, "Unblock(y0 a N 20 1 7)"},
		{storage.BlockBytes{Lanes: 4, Pads: dim.Consts(1, 2)}, []any{"u8[N,3,7]"}, "BlockBytes(y0 a nil N 3 1 7 4 [0 1 0 2])"},
		{storage.BlockBytes{Lanes: 16, Pads: dim.Consts(1, 2, 3, 4)}, []any{"u8[N,20,5,6]", "i32[1]"}, "BlockBytes(y0 a b N 20 5 6 16 [1 2 3 4])"},
		{storage.UnblockBytes{C: 20, To: ir.I8}, []any{"u8[N,2,5,6,16]"}, "UnblockBytes(y0 a N 20 30)"},
		{storage.PadBlocked{Pads: dim.Consts(1, 2), Fill: -1}, []any{"f32[N,2,7,16]"}, "PadBlocked(y0 a N 2 1 7 [0 1 0 2] f32:-1)"},
	})
}
