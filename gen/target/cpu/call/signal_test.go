package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// TestDFTScratch asserts how a signal is divided around its axis, and that the scratch memory is
// two and six times the length.
func TestDFTScratch(t *testing.T) {
	checkCalls(t, []called{
		{op.DFT{Length: dim.Const(8), Axis: 1}, []any{"f32[N,5,3,2]"}, "DFT(y0 a scratch:f64[16] scratch:f64[48] N 5 3 2 8 false false)"},
		{op.DFT{Length: dim.Const(8), Axis: 1, OneSided: true}, []any{"f32[N,8,1]"}, "DFT(y0 a scratch:f64[16] scratch:f64[48] N 8 1 1 8 false true)"},
	})
}
