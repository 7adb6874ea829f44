package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestCastsHaveKernelsByTypes asserts which kernel converts between two types: texts, bools,
// integers of less than a byte and narrow floats have their own.
func TestCastsHaveKernelsByTypes(t *testing.T) {
	checkCalls(t, []called{
		{op.Cast{To: ir.I32}, []any{"f32[N]"}, "Cast(y0 a)"},
		{op.Cast{To: ir.Bool}, []any{"string[N]"}, "CastTextToBool(y0 a)"},
		{op.Cast{To: ir.F32}, []any{"string[N]"}, "CastFromText(y0 a)"},
		{op.Cast{To: ir.String}, []any{"bool[N]"}, "CastBoolToText(y0 a)"},
		{op.Cast{To: ir.String}, []any{"f32[N]"}, "CastToText(y0 a)"},
		{op.Cast{To: ir.I4}, []any{"i8[N]"}, "WrapBits(y0 a 4)"},
		{op.Cast{To: ir.U2}, []any{"u8[N]"}, "WrapBits(y0 a 2)"},
		{op.Cast{To: ir.F32}, []any{"bool[N]"}, "CastFromBool(y0 a)"},
		{op.Cast{To: ir.Bool}, []any{"f32[N]"}, "CastToBool(y0 a)"},
		{op.Cast{To: ir.F8E8M0}, []any{"f32[N]"}, "CastE8M0(y0 a true 0)"},
		{op.Cast{To: ir.F8E8M0, Unsaturated: true, Round: "down"}, []any{"f32[N]"}, "CastE8M0(y0 a false 1)"},
		{op.Cast{To: ir.F8E5M2}, []any{"f32[N]"}, "Cast(y0 a)"},
		{op.Cast{To: ir.F8E5M2, Unsaturated: true}, []any{"f32[N]"}, "CastUnsaturated(y0 a)"},
	})
}
