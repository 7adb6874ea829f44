package storage

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// TestPadsOfBlocks asserts which pads are valid: none, or two of each spatial axis, which are not
// negative.
func TestPadsOfBlocks(t *testing.T) {
	for _, c := range []struct {
		pads []dim.Dim
		want string
	}{
		{nil, "f32[2,2,5,6,16]"},
		{dim.Consts(1, 0, 2, 3), "f32[2,2,8,9,16]"},
		{[]dim.Dim{dim.Sym("P"), dim.Const(0), dim.Const(2), dim.Const(3)}, "f32[2,2,7+P,9,16]"},
		{dim.Consts(1, 2), ""},
		{dim.Consts(1, 0, 2, -1), ""},
	} {
		got, err := PadBlocked{Pads: c.pads}.Infer([]ir.Type{typeOf(t, "f32[2,2,5,6,16]")})
		if (err != nil) != (c.want == "") || err == nil && !got[0].Equal(typeOf(t, c.want)) {
			t.Errorf("pads %v: %v, error %v, want %q", c.pads, got, err, c.want)
		}
	}
}
