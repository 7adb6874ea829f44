package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/op"
)

// TestSelectBoxesThreshold asserts that a call says whether there is a threshold of scores, and that
// the scratch memory holds an index for each box.
func TestSelectBoxesThreshold(t *testing.T) {
	checkCalls(t, []called{
		{
			op.SelectBoxes{}, []any{"f32[1,100,4]", "f32[1,3,100]", "i64[]", "f32[]"},
			"SelectBoxes(y0 a b 1 3 100 c[0] d[0] f32:0 false false scratch:i64[100])",
		},
		{
			op.SelectBoxes{Center: true}, []any{"f32[1,100,4]", "f32[1,3,100]", "i64[]", "f32[]", "f32[]"},
			"SelectBoxes(y0 a b 1 3 100 c[0] d[0] e[0] true true scratch:i64[100])",
		},
	})
}
