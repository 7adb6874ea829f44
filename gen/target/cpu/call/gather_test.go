package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// TestGatherExtents asserts how shapes are divided: around the gathered axis, and for coordinates
// into batches, the axes of coordinates, and slices.
func TestGatherExtents(t *testing.T) {
	checkCalls(t, []called{
		{op.Gather{Axis: 1}, []any{"f32[2,3,4]", "i64[5]"}, "Gather(y0 a b 2 3 4)"},
		{op.GatherElements{Axis: 1}, []any{"f32[2,3]", "i64[2,7]"}, "GatherElements(y0 a b [2 7] [2 3] 1)"},
		{op.GatherND{}, []any{"f32[2,3,4]", "i64[6,2]"}, "GatherND(y0 a b 1 6 [2 3] 4)"},
		{op.GatherND{BatchDims: 1}, []any{"f32[2,3,4,5]", "i64[2,6,2]"}, "GatherND(y0 a b 2 6 [3 4] 5)"},
		{op.OneHot{Depth: dim.Const(9), Axis: 1}, []any{"i64[2,3]", "f32[2]"}, "OneHot(y0 a b 2 9 3)"},
		{op.ReverseSequence{}, []any{"f32[7,2,3]", "i64[2]"}, "ReverseSequence(y0 a b 7 2 3 false)"},
		{op.ReverseSequence{BatchFirst: true}, []any{"f32[2,7,3]", "i64[2]"}, "ReverseSequence(y0 a b 7 2 3 true)"},
	})
}
