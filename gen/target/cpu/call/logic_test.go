package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/op"
)

// TestWhereTakesConstantsByValue asserts that either choice of a Where, or both, may be a constant
// of equal elements.
func TestWhereTakesConstantsByValue(t *testing.T) {
	checkCalls(t, []called{
		{op.Where{}, []any{"bool[N]", "f32[N]", "f32[N]"}, "Where(y0 a b c)"},
		{op.Where{}, []any{"bool[N]", half, "f32[N]"}, "WhereScalarX(y0 a f32:0.5 c)"},
		{op.Where{}, []any{"bool[N]", "f32[N]", half}, "WhereScalarY(y0 a b f32:0.5)"},
		{op.Where{}, []any{"bool[N]", half, half}, "WhereScalars(y0 a f32:0.5 f32:0.5)"},
	})
}
