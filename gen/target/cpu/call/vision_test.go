package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/op"
)

// TestGridSampleModes asserts that mode nearest has its own kernel.
func TestGridSampleModes(t *testing.T) {
	checkCalls(t, []called{
		{op.GridSample{Mode: "nearest", Padding: "zeros"}, []any{"f32[N,3,4,5]", "f32[N,6,7,2]"}, "GridNearest(y0 a b N 3 [4 5] [6 7] zeros false)"},
		{
			op.GridSample{Mode: "linear", Padding: "border", AlignCorners: true}, []any{"f32[N,3,4,5]", "f32[N,6,7,2]"},
			"GridSample(y0 a b N 3 [4 5] [6 7] false border true)",
		},
		{
			op.GridSample{Mode: "cubic", Padding: "reflection"}, []any{"f32[N,3,4,5]", "f32[N,6,7,2]"},
			"GridSample(y0 a b N 3 [4 5] [6 7] true reflection false)",
		},
	})
}
