package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestGranularity asserts how elements share scales: one for all, one for each index of an axis,
// and one for each block along it.
func TestGranularity(t *testing.T) {
	checkCalls(t, []called{
		{op.QuantizeLinear{To: ir.U8, Precision: ir.F32}, []any{"f32[N,3,4]", "f32[]"}, "Quantize(y0 a b nil 1 1 12*N 0 0 255)"},
		{
			op.QuantizeLinear{To: ir.U8, Precision: ir.F32, Granularity: op.Granularity{Axis: 1}}, []any{"f32[N,3,4]", "f32[3]"},
			"Quantize(y0 a b nil N 3 4 0 0 255)",
		},
		{
			op.DequantizeLinear{To: ir.F32, Granularity: op.Granularity{Axis: 1, Block: 2}}, []any{"i8[2,4,5]", "f32[2,2,5]"},
			"Dequantize(y0 a b nil 2 4 5 2)",
		},
		{op.DequantizeLinear{To: ir.F16}, []any{"i8[2,4]", "f16[]"}, "no kernel dequantises i8[2,4] by f16[] to f16"},
		{op.Quantize{To: ir.I8, Scale: 0.5, Zero: 3}, []any{"f32[N]"}, "QuantizeScalar(y0 a f32:0.5 3 -128 127)"},
	})
}
