package kernel_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// TestNarrowComparisons compares i32 that are converted to i64 with constants, on both sides, and with
// each other. The kernels compare nothing as i64.
func TestNarrowComparisons(t *testing.T) {
	numbers := []int32{math.MinInt32, -2, -1, 0, 1, 2, math.MaxInt32}
	constants := []int64{math.MinInt64, math.MinInt32 - 1, math.MinInt32, -1, 0, 1, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt64}
	for o, holds := range map[kernel.Op]func(x, y int64) bool{
		kernel.Lt: func(x, y int64) bool { return x < y },
		kernel.Le: func(x, y int64) bool { return x <= y },
		kernel.Gt: func(x, y int64) bool { return x > y },
		kernel.Ge: func(x, y int64) bool { return x >= y },
		kernel.Eq: func(x, y int64) bool { return x == y },
		kernel.Ne: func(x, y int64) bool { return x != y },
	} {
		var wide int
		k, err := kernel.Build("compare", []int{1}, func(b *kernel.Builder) {
			x, y, z := b.Pointer("x", ir.I32), b.Pointer("y", ir.I32), b.Pointer("z", ir.I32)
			at := 0
			put := func(v, w *kernel.Value) {
				c := b.Binary(o, v, w)
				if c.Def.Op == o && c.Def.Args[0].Type.DType == ir.I64 {
					wide++
				}
				b.Store(z, b.Int(at), b.Convert(ir.I32, c))
				at++
			}
			for i := range numbers {
				v := b.Convert(ir.I64, b.Load(x, b.Int(i)))
				for _, c := range constants {
					put(v, b.Whole(ir.I64, c))
					put(b.Whole(ir.I64, c), v)
				}
				put(v, b.Convert(ir.I64, b.Load(y, b.Int(i))))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if wide > 0 {
			t.Errorf("%s compares %d times as i64", o, wide)
		}
		var want []int32
		put := func(x, y int64) {
			v := int32(0)
			if holds(x, y) {
				v = 1
			}
			want = append(want, v)
		}
		other := []int32{0, -2, 5, 0, -1, math.MaxInt32, math.MinInt32}
		for i, x := range numbers {
			for _, c := range constants {
				put(int64(x), c)
				put(c, int64(x))
			}
			put(int64(x), int64(other[i]))
		}
		got := make([]int32, len(want))
		if err := k.Run([3]int{1, 1, 1}, []kernel.Arg{kernel.Memory(numbers), kernel.Memory(other), kernel.Memory(got)}, kernel.Options{}); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: comparison %d is %d, want %d", o, i, got[i], want[i])
			}
		}
	}
}
