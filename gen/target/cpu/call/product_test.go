package call_test

import (
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// TestProductScratch asserts that a product has scratch memory for the parts of its columns, at
// most eight, and that absent sums and vectors are nil.
func TestProductScratch(t *testing.T) {
	checkCalls(t, []called{
		{storage.PackRows{}, []any{"i8[2,3,10]"}, "PackRows(y0 nil a 2 3 10)"},
		{storage.PackRows{Sums: true}, []any{"i8[2,3,10]"}, "PackRows(y0 y1 a 2 3 10)"},
		{storage.ProductColumns{}, []any{"u8[2,3,12]", "i8[1,10,100]"}, "ProductColumns(y0 a b nil nil nil scratch:i8[1536] 2 1 3 100 10)"},
		{storage.ProductColumns{}, []any{"u8[2,3,12]", "i8[2,10,1000]"}, "ProductColumns(y0 a b nil nil nil scratch:i8[6144] 2 2 3 1000 10)"},
		{storage.ProductInteger{N: dim.Const(20)}, []any{"u8[2,3,12]", "i8[1,2,3,16,4]"}, "ProductInteger(y0 a b nil nil nil nil nil 2 1 3 20 12 0 0)"},
		{
			storage.ProductInteger{N: dim.Const(20), Requantize: op.Requantize{To: ir.I8}},
			[]any{"u8[2,3,12]", "i8[1,2,3,16,4]", nil, nil, "f64[1]"},
			"ProductInteger(y0 a b nil nil e nil nil 2 1 3 20 12 -128 127)",
		},
		{
			storage.ProductInteger{N: dim.Const(20), Requantize: op.Requantize{To: ir.F32}},
			[]any{"u8[2,3,12]", "i8[1,2,3,16,4]", nil, nil, "f32[1]"},
			"ProductScaled(y0 a b nil nil e nil nil 2 1 3 20 12)",
		},
		{
			storage.Patches{Window: op.Window{Kernel: []int{2, 2}}, Group: 2}, []any{"u8[1,6,4,5]"},
			"Patches(y0 nil a nil 2 3 [4 5] [3 4] [2 2] [1 1] [1 1] [0 0])",
		},
	})
}
