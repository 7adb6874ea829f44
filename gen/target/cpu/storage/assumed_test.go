package storage

import (
	"testing"

	"github.com/burngen/burngen/ir/dim"
)

// TestAssumedExtents asserts that constants are as they are, and that a product with a symbol is
// unknown as a whole.
func TestAssumedExtents(t *testing.T) {
	n, seven := dim.Sym("N"), dim.Const(7)
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"constant batch", AssumedBatch(seven), 7},
		{"symbolic batch", AssumedBatch(n), 2},
		{"constant extent", AssumedExtent(seven), 7},
		{"symbolic extent", AssumedExtent(n), 56},
		{"constant pixels", AssumedPixels([]dim.Dim{seven, dim.Const(3)}), 21},
		{"pixels of a symbol", AssumedPixels([]dim.Dim{seven, n}), 56 * 56},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
}
