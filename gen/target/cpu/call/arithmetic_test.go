package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestConstantsOfEqualElementsArePassedByValue asserts that a constant of equal elements is passed
// as a number, whichever operand it is, and which kernels compute integers.
func TestConstantsOfEqualElementsArePassedByValue(t *testing.T) {
	checkCalls(t, []called{
		{op.Add{}, []any{"f32[N]", "f32[N]"}, "Add(y0 a b)"},
		{op.Add{}, []any{"f32[N]", half}, "AddScalar(y0 a f32:0.5)"},
		{op.Add{}, []any{half, "f32[N]"}, "AddScalar(y0 b f32:0.5)"},
		{op.Sub{}, []any{"f32[N]", half}, "SubScalar(y0 a f32:0.5)"},
		{op.Sub{}, []any{half, "f32[N]"}, "ScalarSub(y0 f32:0.5 b)"},
		{op.Sub{}, []any{"f32[2]", ir.FloatTensor(ir.F32, 1, 2)}, "Sub(y0 a h)"},
		{op.Div{}, []any{"f32[N]", "f32[N]"}, "Div(y0 a b)"},
		{op.Div{}, []any{"i32[N]", "i32[N]"}, "DivInt(y0 a b)"},
		{op.Mod{}, []any{"i32[N]", "i32[N]"}, "Mod(y0 a b)"},
		{op.Mod{Truncated: true}, []any{"i32[N]", "i32[N]"}, "Rem(y0 a b)"},
		{op.Mod{Truncated: true}, []any{"f32[N]", "f32[N]"}, "Fmod(y0 a b)"},
		{op.Pow{}, []any{half, "f32[N]"}, "ScalarPow(y0 f32:0.5 b)"},
		{op.Pow{}, []any{"i64[N]", "i64[N]"}, "PowInt(y0 a b)"},
		{op.BitShift{}, []any{"u8[N]", "u8[N]"}, "ShiftRight(y0 a b)"},
		{op.BitShift{Left: true}, []any{"u8[N]", "u8[N]"}, "ShiftLeft(y0 a b)"},
		{op.PRelu{}, []any{"f32[N]", half}, "PReluScalar(y0 a f32:0.5)"},
		{op.PRelu{}, []any{"f32[N]", "f32[N]"}, "PRelu(y0 a b)"},
	})
}
