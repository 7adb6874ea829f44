package call_test

import (
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir/op"
)

// TestConvShapes asserts the shapes of convolutions: a line is a plane of height 1, and absent
// strides and dilations are 1.
func TestConvShapes(t *testing.T) {
	checkCalls(t, []called{
		{
			op.Conv{Window: op.Window{Kernel: []int{3}, Pads: []int{1, 1}}, Group: 1}, []any{"f64[N,4,8]", "f64[6,4,3]", "f64[6]"},
			"ConvDirect(y0 a b c N 4 6 1 [8] [8] [3] [1] [1] [1 1])",
		},
		{
			op.Conv{Window: op.Window{Kernel: []int{3, 3}, Strides: []int{2, 2}}, Group: 2}, []any{"f64[N,4,7,9]", "f64[6,2,3,3]"},
			"ConvDirect(y0 a b nil N 4 6 2 [7 9] [3 4] [3 3] [2 2] [1 1] [0 0 0 0])",
		},
		{
			storage.ConvBlocked{Window: op.Window{Kernel: []int{3}, Pads: []int{1, 1}}, InC: 4, OutC: 20, Group: 1},
			[]any{"f32[N,1,8,16]", "f32[2,1,1,3,16,16]"},
			"Conv(y0 a b {N:N InC:4 InH:1 InW:8 InBlock:16 OutC:20 OutH:1 OutW:8 KH:1 KW:3 StrideH:1 StrideW:1 DilH:1 DilW:1 PadW:1 Group:1} {})",
		},
		{
			storage.ConvPixels{InC: 4, OutC: 20}, []any{"f32[N,4,4,8]", "f32[20,4]"},
			"MatMul(y0 b a {M:20 N:32 K:4 LDA:4 LDC:32 Batch:N StrideB:128 StrideC:640 LDB:32 RowBias:true} {})",
		},
		{
			storage.DepthwisePlanar{Window: op.Window{Kernel: []int{3, 3}, Pads: []int{1, 1, 1, 1}}, C: 4},
			[]any{"f32[N,4,8,9]", "f32[4,3,3]"},
			"DepthwisePlanar(y0 a b {N:N InC:4 InH:8 InW:9 InBlock:1 OutC:4 OutH:8 OutW:9 KH:3 KW:3 StrideH:1 StrideW:1 DilH:1 DilW:1 PadH:1 PadW:1 Group:4} {})",
		},
		{storage.PackConv{Group: 1, InBlock: 1}, []any{"f32[20,3,7,7]"}, "PackConv(y0 a {InC:3 InBlock:1 OutC:20 KH:7 KW:7 Group:1})"},
	})
}
