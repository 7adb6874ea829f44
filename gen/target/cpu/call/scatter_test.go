package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/op"
)

// TestScatterReductions asserts that each reduction has its kernel, and that coordinates divide the
// shape into their axes and a slice.
func TestScatterReductions(t *testing.T) {
	checkCalls(t, []called{
		{op.ScatterElements{Axis: 1}, []any{"f32[2,3]", "i64[2,2]", "f32[2,2]"}, "ScatterElements(y0 a b c [2 2] [2 3] 1)"},
		{op.ScatterElements{Reduction: "add"}, []any{"f32[2,3]", "i64[2,2]", "f32[2,2]"}, "ScatterElementsAdd(y0 a b c [2 2] [2 3] 0)"},
		{op.ScatterND{}, []any{"f32[2,3,4]", "i64[5,2]", "f32[5,4]"}, "ScatterND(y0 a b c [2 3] 4)"},
		{op.ScatterND{Reduction: "mul"}, []any{"f32[2,3,4]", "i64[5,1]", "f32[5,3,4]"}, "ScatterNDMul(y0 a b c [2] 12)"},
		{op.ScatterND{Reduction: "max"}, []any{"f32[2]", "i64[5,1]", "f32[5]"}, "ScatterNDMax(y0 a b c [2] 1)"},
		{op.ScatterND{Reduction: "min"}, []any{"f32[2]", "i64[5,1]", "f32[5]"}, "ScatterNDMin(y0 a b c [2] 1)"},
	})
}
