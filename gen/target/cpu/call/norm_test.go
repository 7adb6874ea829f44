package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/op"
)

// TestNormRows asserts how the shape of a normalised tensor is divided into rows, groups and
// pixels.
func TestNormRows(t *testing.T) {
	checkCalls(t, []called{
		{op.LayerNormalization{Axis: 1, Epsilon: 0.5}, []any{"f32[N,3,4]", "f32[3,4]", "f32[3,4]"}, "LayerNorm(y0 a b c N 12 f32:0.5)"},
		{op.RMSNormalization{Axis: 2, Epsilon: 0.5}, []any{"f32[N,3,4]", "f32[4]"}, "RMSNorm(y0 a b 3*N 4 f32:0.5)"},
		{op.GroupNormalization{Groups: 2, Epsilon: 0.5}, []any{"f32[N,4,3,3]", "f32[4]", "f32[4]"}, "GroupNorm(y0 a b c N 2 4 9 f32:0.5)"},
		{op.LRN{Size: 3, Alpha: 0.5, Beta: 0.75, Bias: 1}, []any{"f32[N,20,5,6]"}, "LRN(y0 a N 20 30 1 3 f32:0.5 f32:0.75 f32:1)"},
		{op.LRN{Size: 3, Alpha: 0.5, Beta: 0.75, Bias: 1, Blocked: true}, []any{"f32[N,2,5,6,16]"}, "LRN(y0 a N 32 30 16 3 f32:0.5 f32:0.75 f32:1)"},
		{op.LRN{Size: 3, Bias: 1}, []any{"f64[N,20,5,6]"}, "no kernel normalises f64[N,20,5,6]"},
	})
}
