package op

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// TestResizeFlops compares the counted operations with the elements that the passes over the axes
// read: each pass reads the result of the pass before it.
func TestResizeFlops(t *testing.T) {
	n := dim.Sym("N")
	in := ir.TensorOf(ir.F32, n, dim.Const(3), dim.Const(10), dim.Const(8))
	for _, c := range []struct {
		name   string
		op     Resize
		h, w   int
		single int // for each image, twice the number of elements that are read
	}{
		{"no axis", Resize{Mode: "linear", Coordinates: "half_pixel"}, 10, 8, 0},
		{"one axis", Resize{Mode: "linear", Coordinates: "half_pixel"}, 20, 8, 2 * 2 * 3 * 20 * 8},
		{"two axes", Resize{Mode: "linear", Coordinates: "half_pixel"}, 20, 16, 2 * 2 * (3*20*8 + 3*20*16)},
		{"four taps", Resize{Mode: "cubic", Coordinates: "half_pixel"}, 5, 16, 2 * 4 * (3*5*8 + 3*5*16)},
		{"six taps", Resize{Mode: "lanczos", Coordinates: "half_pixel"}, 5, 16, 2 * 6 * (3*5*8 + 3*5*16)},
		{"one tap", Resize{Mode: "nearest", Coordinates: "asymmetric", Rounding: "floor"}, 20, 16, 2 * (3*20*8 + 3*20*16)},
		{"wide filter", Resize{Mode: "linear", Coordinates: "half_pixel", AntiAlias: true}, 5, 16, 2 * 2 * (3*10*8 + 3*5*16)},
	} {
		c.op.Shape, c.op.Scales = []dim.Dim{n, dim.Const(3), dim.Const(c.h), dim.Const(c.w)}, make([]float64, 4)
		out, err := c.op.Infer([]ir.Type{in})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, want := c.op.Flops([]ir.Type{in}, out), n.Mul(dim.Const(c.single)); !got.Equal(want) {
			t.Errorf("%s: %s operations, want %s", c.name, got, want)
		}
	}
}
