package op

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// TestMaxPoolIndicesOfSymbols compares the indices of maxima for operands of symbolic extents with
// the indices for operands of constant extents.
func TestMaxPoolIndicesOfSymbols(t *testing.T) {
	symbols := make([]dim.Dim, 4)
	for i := range symbols {
		symbols[i] = dim.Sym(fmt.Sprint("D", i))
	}
	for name, a := range map[string]attrs{
		"pads":         {"kernel_shape": []int{2, 3}, "pads": []int{1, 0, 0, 2}, "strides": []int{2, 1}},
		"dilations":    {"kernel_shape": []int{2, 2}, "dilations": []int{1, 2}, "storage_order": 1},
		"rounded up":   {"kernel_shape": []int{3, 2}, "strides": []int{2, 2}, "ceil_mode": 1},
		"equal shapes": {"kernel_shape": []int{3, 2}, "strides": []int{2, 1}, "auto_pad": "SAME_LOWER"},
	} {
		t.Run(name, func(t *testing.T) {
			x := filled(ir.F32, 2, 2, 5, 4)
			constant, err := importFunc("MaxPool", 12, 2, a, []ir.Type{x.Type()})
			if err != nil {
				t.Fatal(err)
			}
			symbolic, err := importFunc("MaxPool", 12, 2, a, []ir.Type{ir.TensorOf(ir.F32, symbols...)})
			if err != nil {
				t.Fatal(err)
			}
			want, got := run(t, constant, x), checkLower(t, symbolic, 0, x)
			for i := range want {
				if !got[i].Equal(want[i]) {
					t.Errorf("result %d is %s, want %s", i, got[i], want[i])
				}
			}
			if a["storage_order"] != nil {
				return
			}
			for i := range want[1].Len() {
				if value := x.Float(int(want[1].Int(i))); value != want[0].Float(i) {
					t.Errorf("%g stands at %d, not %g", value, want[1].Int(i), want[0].Float(i))
				}
			}
		})
	}
}
