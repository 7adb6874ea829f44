package op_test

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// TestWidened asserts that the result of a wide product of narrow floats is f32 and not rounded, and that
// other products are not affected.
func TestWidened(t *testing.T) {
	one := op.Window{Kernel: []int{1}}
	at := dim.Consts(0, 1, 1, 1)
	for _, c := range []struct {
		op     op.Product
		shapes [][]int
	}{
		{op.MatMul{}, [][]int{{1, 1}, {1, 1}}},
		{op.Conv{Window: one, Group: 1}, [][]int{{1, 1, 1}, {1, 1, 1}}},
		{op.ConvWeights{Window: one, Group: 1}, [][]int{{1, 1, 1}, {1, 1, 1}}},
		{op.Attend{
			Batch: dim.Const(1), Heads: dim.Const(1), Shared: dim.Const(1), Queries: dim.Const(1), Keys: dim.Const(2), Depth: dim.Const(1), Width: dim.Const(1),
			Q: at, K: dim.Consts(0, 1, 1, 0), V: at, Scale: 1, Before: -1, After: -1,
		}, [][]int{{1}, {1}, {2}}},
	} {
		for d, narrow := range map[ir.DType]float64{ir.BF16: 0x1p-7, ir.F16: 0x1p-10, ir.F32: 0x1p-23} {
			in := make([]*ir.Tensor, len(c.shapes))
			for i, shape := range c.shapes {
				in[i] = ir.NewTensor(d, shape...)
				for k := range in[i].Len() {
					in[i].SetFloat(k, 1+narrow*float64(1+k)) // the exact product and mean have more bits
				}
			}
			plain, err := c.op.Eval(in)
			if err != nil {
				t.Fatal(err)
			}
			wide, err := c.op.Widened().Eval(in)
			if err != nil {
				t.Fatal(err)
			}
			if plain[0].DType != d || wide[0].DType != ir.F32 {
				t.Errorf("%T of %s has results of %s and %s", c.op, d, plain[0].DType, wide[0].DType)
			}
			a, b := plain[0].Float(0), wide[0].Float(0)
			if d == ir.F32 && a != b || d != ir.F32 && (a == b || ir.RoundFloat(d, b) != a) {
				t.Errorf("%T of %s is %v, and %v if it is wide", c.op, d, a, b)
			}
		}
	}
}
