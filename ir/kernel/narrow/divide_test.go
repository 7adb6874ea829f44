package narrow

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// TestDivide divides all numbers by all numbers but 0.
func TestDivide(t *testing.T) {
	x, y := pairs(numbers(), func(_, y uint64) bool { return y != 0 })
	for _, d := range wide {
		for _, o := range []kernel.Op{kernel.Div, kernel.Rem} {
			agreeOn(t, d, []ir.DType{d, d}, [][]byte{memory(x), memory(y)}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value {
				return b.Binary(o, v[0], v[1])
			})
		}
	}
}
