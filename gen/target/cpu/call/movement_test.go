package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// TestMovementDefaults asserts the arguments of movements whose operands or attributes are absent:
// zero padding, the main diagonal, strides of 1.
func TestMovementDefaults(t *testing.T) {
	checkCalls(t, []called{
		{op.Concat{Axis: 1}, []any{"f32[N,2,5]", "f32[N,3,5]"}, "Concat(y0 N [10 15] a b)"},
		{op.Pad{Mode: "constant", Before: dim.Consts(1), After: dim.Consts(2)}, []any{"i32[5]"}, "Pad(y0 a [5] [1] [2] i32:0)"},
		{op.Pad{Mode: "constant", Before: dim.Consts(1), After: dim.Consts(2)}, []any{"f32[5]", half}, "Pad(y0 a [5] [1] [2] f32:0.5)"},
		{op.Pad{Mode: "constant", Before: dim.Consts(1), After: dim.Consts(2)}, []any{"f32[5]", "f32[]"}, "Pad(y0 a [5] [1] [2] b[0])"},
		{op.Trilu{Upper: true}, []any{"f32[N,3,4]"}, "Trilu(y0 a N 3 4 i64:0 true)"},
		{op.Trilu{}, []any{"f32[3,4]", "i64[]"}, "Trilu(y0 a 1 3 4 b[0] false)"},
		{op.Col2Im{Image: dim.Consts(4, 5), Block: dim.Consts(2, 2)}, []any{"f32[1,12,12]"}, "Col2Im(y0 a 1 12 12 [4 5] [2 2] [1 1] [1 1] [0 0 0 0])"},
		{op.Pad{Mode: "edge", Before: dim.Consts(1), After: dim.Consts(2)}, []any{"f32[5]"}, "Pad(y0 a [5] [1] [2] f32:0)"},
	})
}
