package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// TestLinesAroundAnAxis asserts that an operator along axes gets the numbers of elements before,
// along and after them, and which kernels reduce bools.
func TestLinesAroundAnAxis(t *testing.T) {
	checkCalls(t, []called{
		{op.Softmax{Axis: 1}, []any{"f32[N,3,4,5]"}, "Softmax(y0 a N 3 20)"},
		{op.Softmax{Axis: 3, Exact: true}, []any{"f32[N,3,4,5]"}, "SoftmaxExact(y0 a 12*N 5 1)"},
		{op.ArgMax{Axis: 0, Last: true}, []any{"f32[N,3]"}, "ArgMax(y0 a 1 N 3 true)"},
		{op.Reduce{Kind: op.ReduceSum, Axes: []int{1, 2}, KeepDims: true}, []any{"f32[N,3,4,5]"}, "ReduceSum(y0 a N 12 5)"},
		{op.Reduce{Kind: op.ReduceSum, Axes: []int{1, 3}}, []any{"f32[N,3,4,5]"}, "axes [1 3] are not neighbours"},
		{op.Reduce{Kind: op.ReduceMean, Axes: []int{0, 1}}, []any{"f32[2,3]"}, "ReduceMean(y0 a 1 6 1)"},
		{op.Reduce{Kind: op.ReduceMax, Axes: []int{1}}, []any{"bool[N,3]"}, "ReduceAny(y0 a N 3 1)"},
		{op.Reduce{Kind: op.ReduceMin, Axes: []int{1}}, []any{"bool[N,3]"}, "ReduceAll(y0 a N 3 1)"},
		{op.TopK{Axis: 1, K: dim.Const(2)}, []any{"f32[N,5]"}, "TopK(y0 y1 a 5 2 false)"},
	})
}
