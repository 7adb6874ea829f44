package gpu_test

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// TestRandom asserts that kernels draw the numbers of package rt, bit for bit.
func TestRandom(t *testing.T) {
	const n, seed = 1000, -7
	key := []int64{3, -1 << 50}
	keyed, shape := uint64(rt.Keyed(seed, key)), dim.Consts(n)
	for _, c := range []struct {
		op   ir.Op
		want func(i uint64) float64
	}{
		{op.RandomUniform{DType: ir.F64, Shape: shape, Low: -1, High: 5, Seed: seed}, func(i uint64) float64 {
			return -1 + float64(6*rt.UniformAt(keyed, i))
		}},
		{op.RandomNormal{DType: ir.F64, Shape: shape, Mean: 0.5, Scale: 3, Seed: seed}, func(i uint64) float64 {
			return 0.5 + float64(3*rt.NormalAt(keyed, i))
		}},
	} {
		out, err := run(t, interpreted, c.op, []ir.Type{ir.StaticTensor(ir.I64, 2)}, key)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range out[0].([]float64) {
			if want := c.want(uint64(i)); v != want {
				t.Fatalf("%s: number %d is %v, want %v", ir.OpName(c.op), i, v, want)
			}
		}
	}
}
