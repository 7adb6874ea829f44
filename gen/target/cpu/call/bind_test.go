package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// TestSymbolsOfOperands asserts that a call for each symbol gets the place of its value.
func TestSymbolsOfOperands(t *testing.T) {
	checkCalls(t, []called{
		{op.BindDims{Bound: op.Bound{Symbols: []string{"P", "Q"}}, Places: []int{2, 0}}, []any{"i64[3]"}, "Extent(a 2)\nExtent(a 0)"},
		{
			op.BindSlice{Bound: op.Bound{Symbols: []string{"P", "Q"}}, Shape: dim.Consts(4, 5), Axes: []int{1}},
			[]any{"i64[1]", "i64[1]"},
			"SlicePlace(a b nil nil [4 5] 4)\nSlicePlace(a b nil nil [4 5] 5)",
		},
		{
			op.BindSlice{Bound: op.Bound{Symbols: []string{"P", "Q", "R", "S"}}, Shape: dim.Consts(4, 5), Axes: []int{1}, Steps: true},
			[]any{"i64[1]", "i64[1]", "i64[1]", "i64[1]"},
			"SlicePlace(a b c d [4 5] 4)\n" +
				"SlicePlace(a b c d [4 5] 5)\n" +
				"SlicePlace(a b c d [4 5] 6)\n" +
				"SlicePlace(a b c d [4 5] 7)",
		},
		{
			op.BindReshape{Bound: op.Bound{Symbols: []string{"P", "Q"}}, From: dim.Consts(4, 5)}, []any{"i64[2]"},
			"ReshapedExtent(a [4 5] false 2 0)\nReshapedExtent(a [4 5] false 2 1)",
		},
	})
}
