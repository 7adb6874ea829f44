package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/op"
)

// TestComparisonsWithAConstantOnTheLeftAreMirrored asserts that a comparison with a constant as its
// first operand is the mirrored comparison with exchanged operands.
func TestComparisonsWithAConstantOnTheLeftAreMirrored(t *testing.T) {
	checkCalls(t, []called{
		{op.Less{}, []any{"f32[N]", half}, "LessScalar(y0 a f32:0.5)"},
		{op.Less{}, []any{half, "f32[N]"}, "GreaterScalar(y0 b f32:0.5)"},
		{op.LessOrEqual{}, []any{half, "f32[N]"}, "GreaterOrEqualScalar(y0 b f32:0.5)"},
		{op.Greater{}, []any{half, "f32[N]"}, "LessScalar(y0 b f32:0.5)"},
		{op.GreaterOrEqual{}, []any{half, "f32[N]"}, "LessOrEqualScalar(y0 b f32:0.5)"},
		{op.Equal{}, []any{half, "f32[N]"}, "EqualScalar(y0 b f32:0.5)"},
	})
}
