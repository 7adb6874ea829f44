package call_test

import (
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir/op"
)

// TestDepthwiseIntegerPads asserts that one spatial axis is the width of a plane, and that only
// depthwise convolutions have a kernel.
func TestDepthwiseIntegerPads(t *testing.T) {
	checkCalls(t, []called{
		{
			op.ConvInteger{Window: op.Window{Kernel: []int{3}, Pads: []int{1, 1}}, Group: 4}, []any{"u8[N,4,8]", "i8[4,1,3]"},
			"DepthwiseInteger(y0 a b nil nil nil nil nil N 4 4 [1 8] [1 8] [1 3] [1 1] [1 1] [0 1] 0 0)",
		},
		{
			op.ConvInteger{Window: op.Window{Kernel: []int{3, 3}, Pads: []int{1, 2, 3, 4}}, Group: 4},
			[]any{"u8[N,4,8,9]", "i8[8,1,3,3]"},
			"DepthwiseInteger(y0 a b nil nil nil nil nil N 4 8 [8 9] [10 13] [3 3] [1 1] [1 1] [1 2] 0 0)",
		},
		{
			op.ConvInteger{Window: op.Window{Kernel: []int{3, 3}}, Group: 1}, []any{"u8[N,4,8,9]", "i8[8,4,3,3]"},
			"no kernel convolves u8[N,4,8,9] with i8[8,4,3,3]",
		},
		{storage.PackDepthwiseBytes{}, []any{"i8[20,1,3]"}, "PackDepthwiseBytes(y0 a 20 1 3)"},
	})
}
