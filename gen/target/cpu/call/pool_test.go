package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/op"
)

// TestPoolKernels asserts which kernel pools: f64 has direct kernels, and blocked and planar f32
// differ in the number of adjacent channels.
func TestPoolKernels(t *testing.T) {
	checkCalls(t, []called{
		{
			op.MaxPool{Window: op.Window{Kernel: []int{2, 3}}}, []any{"f32[N,20,5,6]"},
			"MaxPool(y0 a {N:N C:20 InH:5 InW:6 OutH:4 OutW:4 KH:2 KW:3 StrideH:1 StrideW:1 DilH:1 DilW:1 Block:1})",
		},
		{
			op.MaxPool{Window: op.Window{Kernel: []int{3}, Strides: []int{2}, Pads: []int{1, 2}}}, []any{"f32[N,20,8]"},
			"MaxPool(y0 a {N:N C:20 InH:1 InW:8 OutH:1 OutW:5 KH:1 KW:3 StrideH:1 StrideW:2 DilH:1 DilW:1 PadW:1 EndW:2 Block:1})",
		},
		{
			op.MaxPool{Window: op.Window{Kernel: []int{2, 3}}, Blocked: true}, []any{"f32[N,2,5,6,16]"},
			"MaxPool(y0 a {N:N C:2 InH:5 InW:6 OutH:4 OutW:4 KH:2 KW:3 StrideH:1 StrideW:1 DilH:1 DilW:1 Block:16})",
		},
		{op.MaxPool{Window: op.Window{Kernel: []int{2, 3}}}, []any{"f64[N,20,5,6]"}, "MaxPoolDirect(y0 a 20*N [5 6] [4 4] [2 3] [1 1] [1 1] [0 0 0 0])"},
		{
			op.AveragePool{Window: op.Window{Kernel: []int{2, 2}}, CountPad: true}, []any{"f32[N,20,5,6]"},
			"AveragePool(y0 a {N:N C:20 InH:5 InW:6 OutH:4 OutW:5 KH:2 KW:2 StrideH:1 StrideW:1 DilH:1 DilW:1 Block:1 CountPad:true})",
		},
		{op.MaxPool{Window: op.Window{Kernel: []int{1, 1, 1}}}, []any{"f32[N,2,5,6,7]"}, "no kernel pools f32[N,2,5,6,7]"},
		{op.GlobalAveragePool{Blocked: true}, []any{"f32[N,2,5,6,16]"}, "GlobalAveragePool(y0 a N 2 30 16)"},
		{op.GlobalAveragePool{}, []any{"f32[N,20,5,6]"}, "GlobalAveragePool(y0 a N 20 30 1)"},
		{op.GlobalAveragePool{}, []any{"f64[N,20,5,6]"}, "no kernel averages f64[N,20,5,6]"},
	})
}
