package call_test

import (
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// TestMatMulBatches asserts which products are one: the rows of all matrices by one matrix of
// panels. Other batches have strides, 0 for a single matrix.
func TestMatMulBatches(t *testing.T) {
	checkCalls(t, []called{
		{storage.MatMulPanels{N: dim.Const(20)}, []any{"f32[N,3,8]", "f32[2,8,16]"}, "MatMul(y0 a b {M:3*N N:20 K:8 LDA:8 LDC:20 Batch:1} {})"},
		{
			storage.MatMulPanels{N: dim.Const(20)}, []any{"f32[N,3,8]", "f32[N,2,8,16]"},
			"MatMul(y0 a b {M:3 N:20 K:8 LDA:8 LDC:20 Batch:N StrideA:24 StrideB:256 StrideC:60} {})",
		},
		{
			storage.MatMulPanels{N: dim.Const(20)}, []any{"f32[3,8]", "f32[N,2,8,16]"},
			"MatMul(y0 a b {M:3 N:20 K:8 LDA:8 LDC:20 Batch:N StrideB:256 StrideC:60} {})",
		},
		{storage.MatMulPanels{N: dim.Const(20)}, []any{"f32[3,8]", "f16[2,8,16]"}, "MatMulNarrow(y0 a b {M:3 N:20 K:8 LDA:8 LDC:20 Batch:1} {})"},
		{storage.PackPanels{}, []any{"f32[N,8,20]"}, "PackPanels(y0 a 8 20 20 false N 160)"},
		{storage.PackPanels{Trans: true}, []any{"f32[N,20,8]"}, "PackPanels(y0 a 8 20 8 true N 160)"},
		{op.Det{}, []any{"f32[N,3,3]"}, "Det(y0 a scratch:f64[9] 3)"},
		{op.Inverse{}, []any{"f32[N,3,3]"}, "Inverse(y0 a scratch:f64[18] N 3)"},
	})
}
