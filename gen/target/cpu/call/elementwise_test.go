package call_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/ir/op"
)

// TestClipLimits asserts that infinite limits of integers are the limits of their type.
func TestClipLimits(t *testing.T) {
	checkCalls(t, []called{
		{op.Clip{Lo: -0.5, Hi: 6}, []any{"f32[N]"}, "Clip(y0 a f32:-0.5 f32:6)"},
		{op.Clip{Lo: math.Inf(-1), Hi: 7}, []any{"u8[N]"}, "Clip(y0 a u8:0 u8:7)"},
		{op.Clip{Lo: -7, Hi: math.Inf(1)}, []any{"i8[N]"}, "Clip(y0 a i8:-7 i8:127)"},
		{op.Clip{Lo: -7, Hi: math.Inf(1)}, []any{"f32[N]"}, "Clip(y0 a f32:-7 f32:+Inf)"},
	})
}
