package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestContainerKernels asserts which kernels compute operators on containers: their elements are
// tensors or containers, and operands may be absent.
func TestContainerKernels(t *testing.T) {
	checkCalls(t, []called{
		{op.SequenceConstruct{DType: ir.F32}, nil, "SequenceEmpty(y0)"},
		{op.SequenceInsert{}, []any{"seq<f32[3]>", "f32[3]"}, "SequenceAppend(y0 a b [3])"},
		{op.SequenceInsert{}, []any{"seq<f32[3]>", "f32[3]", "i64[]"}, "SequenceInsert(y0 a b [3] c)"},
		{op.Optional{Type: typeOf(t, "opt<f32[3]>")}, nil, "NoTensor(y0)"},
		{op.Optional{Type: typeOf(t, "opt<seq<f32[3]>>")}, nil, "NoSequence(y0)"},
		{op.Optional{}, []any{"f32[3]"}, "OptionalTensor(y0 a [3])"},
		{op.Optional{}, []any{"seq<f32[3]>"}, "OptionalSequence(y0 a)"},
		{op.OptionalHasElement{}, []any{"opt<f32[3]>"}, "HasTensor(y0 a)"},
		{op.OptionalHasElement{}, []any{"opt<seq<f32[3]>>"}, "HasSequence(y0 a)"},
		{op.OptionalGetElement{}, []any{"opt<seq<f32[3]>>"}, "GetSequence(y0 a)"},
		{op.OptionalGetElement{Extents: []string{"", "P"}}, []any{"opt<f32[3,?]>"}, "OptionalExtent(a 2 1)\nGetTensor(y0 a [3 P])"},
		{op.SequenceAt{Extents: []string{"", "P"}}, []any{"seq<f32[3,?]>", "i64[]"}, "SequenceExtent(a b 2 1)\nSequenceAt(y0 a b [3 P])"},
		{op.SplitToSequence{Axis: 1}, []any{"f32[2,6]"}, "SplitToSlices(y0 a [2 6] 1 false)"},
		{op.SplitToSequence{Axis: 1}, []any{"f32[2,6]", "i64[]"}, "SplitToParts(y0 a [2 6] 1 b)"},
		{op.SplitToSequence{Axis: 1}, []any{"f32[2,6]", "i64[2]"}, "SplitToSequence(y0 a [2 6] 1 b)"},
	})
}
