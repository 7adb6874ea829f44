package storage

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// TestPaddingOfBytes asserts that padding while bytes are blocked is the same as padding blocked
// bytes, and that cells of padding have the padding value in empty lanes too.
func TestPaddingOfBytes(t *testing.T) {
	x, fill := numbered(typeOf(t, "i8[2,20,3,4]")), ir.IntTensor(ir.I32, 9)
	pads := dim.Consts(1, 0, 2, 3)
	got := evaluated(t, BlockBytes{Lanes: block, Pads: pads}, x, fill)
	want := evaluated(t, PadBytes{Pads: pads}, evaluated(t, BlockBytes{Lanes: block}, x), fill)
	if !got.Equal(want) {
		t.Error("the elements depend on when they are padded")
	}
	for lane := range block {
		if v := got.Int(lane); v != 9 {
			t.Errorf("lane %d of the first cell is %d, want the padding value 9", lane, v)
		}
	}
}
