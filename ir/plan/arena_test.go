package plan

import (
	"testing"

	"github.com/burngen/burngen/ir/dim"
)

// TestBounded asserts that scratch takes the most that it may need, where that is known and not too
// much.
func TestBounded(t *testing.T) {
	n := dim.Sym("N")
	for _, c := range []struct{ bytes, want dim.Dim }{
		{dim.Const(640), dim.Const(640)},
		{n.Mul(dim.Const(64)).Min(dim.Const(4096)), dim.Const(4096)},
		{n.Min(dim.Const(1024)).Mul(dim.Const(3072)), dim.Const(3 << 20)},
		{n.Min(dim.Const(maxBound)), dim.Const(maxBound)},
		{n.Min(dim.Const(maxBound + 1)), n.Min(dim.Const(maxBound + 1))},
		{n.Mul(dim.Const(64)), n.Mul(dim.Const(64))},
	} {
		if got := bounded(c.bytes); !got.Equal(c.want) {
			t.Errorf("%s becomes %s, want %s", c.bytes, got, c.want)
		}
	}
}

// TestRoundUp asserts that sizes become whole lines, and that multiples of a symbol stay multiples.
func TestRoundUp(t *testing.T) {
	n, m := dim.Sym("N"), dim.Sym("M")
	for _, c := range []struct{ bytes, want dim.Dim }{
		{dim.Const(0), dim.Const(0)},
		{dim.Const(1), dim.Const(64)},
		{dim.Const(64), dim.Const(64)},
		{dim.Const(65), dim.Const(128)},
		{n.Mul(dim.Const(40)), n.Mul(dim.Const(64))},
		{n.Mul(dim.Const(96)), n.Mul(dim.Const(128))},
		{n.Mul(dim.Const(4)).Add(dim.Const(4)), n.Mul(dim.Const(4)).Add(dim.Const(4)).CeilDiv(dim.Const(64)).Mul(dim.Const(64))},
		{n.Mul(m), n.Mul(m).CeilDiv(dim.Const(64)).Mul(dim.Const(64))},
	} {
		if got := roundUp(c.bytes); !got.Equal(c.want) {
			t.Errorf("%s becomes %s, want %s", c.bytes, got, c.want)
		}
	}
}
