package kernel_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// TestNarrowComparisons compares i32 that are converted to i64 with constants, on both sides, and with
// each other, and takes the smaller and the larger. The kernels compare nothing as i64.
func TestNarrowComparisons(t *testing.T) {
	numbers := []int32{math.MinInt32, -2, -1, 0, 1, 2, math.MaxInt32}
	constants := []int64{math.MinInt64, math.MinInt32 - 1, math.MinInt32, -1, 0, 1, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt64}
	truth := func(x bool) int64 {
		if x {
			return 1
		}
		return 0
	}
	for o, want := range map[kernel.Op]func(x, y int64) int64{
		kernel.Lt:  func(x, y int64) int64 { return truth(x < y) },
		kernel.Le:  func(x, y int64) int64 { return truth(x <= y) },
		kernel.Gt:  func(x, y int64) int64 { return truth(x > y) },
		kernel.Ge:  func(x, y int64) int64 { return truth(x >= y) },
		kernel.Eq:  func(x, y int64) int64 { return truth(x == y) },
		kernel.Ne:  func(x, y int64) int64 { return truth(x != y) },
		kernel.Min: func(x, y int64) int64 { return min(x, y) },
		kernel.Max: func(x, y int64) int64 { return max(x, y) },
	} {
		var wide int
		k, err := kernel.Build("compare", []int{1}, func(b *kernel.Builder) {
			x, y, z := b.Pointer("x", ir.I32), b.Pointer("y", ir.I32), b.Pointer("z", ir.I64)
			at := 0
			put := func(v, w *kernel.Value) {
				c := b.Binary(o, v, w)
				if c.Def.Op == o && c.Def.Args[0].Type.DType == ir.I64 {
					wide++
				}
				b.Store(z, b.Int(at), b.Convert(ir.I64, c))
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
		other := []int32{0, -2, 5, 0, -1, math.MaxInt32, math.MinInt32}
		var wants []int64
		for i, x := range numbers {
			for _, c := range constants {
				wants = append(wants, want(int64(x), c), want(c, int64(x)))
			}
			wants = append(wants, want(int64(x), int64(other[i])))
		}
		got := make([]int64, len(wants))
		if err := k.Run([3]int{1, 1, 1}, []kernel.Arg{kernel.Memory(numbers), kernel.Memory(other), kernel.Memory(got)}, kernel.Options{}); err != nil {
			t.Fatal(err)
		}
		for i, w := range wants {
			if got[i] != w {
				t.Errorf("%s: result %d is %d, want %d", o, i, got[i], w)
			}
		}
	}
}
