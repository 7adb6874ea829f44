package cpu_test

import (
	"errors"
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
)

// hardDivisions returns integers whose quotients are integers or close to integers.
func hardDivisions(n int) (a, b *kerneltest.Slice[int32]) {
	a, b = kerneltest.NewSlice[int32](n, 1), kerneltest.NewSlice[int32](n, 2)
	bits, ends := manyBits(2*n+2), []int32{math.MinInt32, math.MaxInt32, -1, 1, 0, 2, math.MinInt32 + 1, 3, -7}
	for i := range n {
		x, y := int32(bits[2*i]), int32(bits[2*i+1])
		switch i % 4 {
		case 0:
			x, y = ends[i/4%len(ends)], ends[i/4/len(ends)%len(ends)]
		case 1:
			y >>= i % 29
			x = y*(x>>16) - int32(i/4%2)
		}
		if a.Data[i], b.Data[i] = x, y; y == 0 {
			b.Data[i] = -3
		}
	}
	a.Freeze()
	b.Freeze()
	return a, b
}

func TestDivisionsOfInt32(t *testing.T) {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	type slices = func(dst, a, b []int32) error
	type scalars = func(dst, a []int32, b int32) error
	for name, f := range map[string]slices{"Div": cpu.DivInt[int32], "Rem": cpu.Rem[int32], "Mod": cpu.Mod[int32]} {
		scalar := map[string]scalars{"Div": cpu.DivIntScalar[int32], "Rem": cpu.RemScalar[int32], "Mod": cpu.ModScalar[int32]}[name]
		t.Run(name, func(t *testing.T) {
			for _, n := range append(sizes, 70000) {
				a, b := hardDivisions(n)
				atAllLevels(t, n, equals[int32], func(dst []int32) { must(f(dst, a.Data, b.Data)) })
				atAllLevels(t, n, equals[int32], func(dst []int32) {
					copy(dst, a.Data)
					must(f(dst, dst, b.Data))
				})
				for i := 0; i < min(n, 40); i++ {
					atAllLevels(t, n, equals[int32], func(dst []int32) { must(scalar(dst, a.Data, b.Data[i])) })
				}
				a.Check(t, "a")
				b.Check(t, "b")
				for _, at := range []int{0, n / 2, n - 1} {
					if n == 0 {
						continue
					}
					zero := append([]int32{}, b.Data...)
					zero[at] = 0
					for _, l := range cpu.Levels() {
						restore := cpu.SetLevel(l)
						if err := f(make([]int32, n), a.Data, zero); !errors.Is(err, cpu.ErrDivideByZero) {
							t.Errorf("%v: a zero at %d of %d gives %v", l, at, n, err)
						}
						restore()
					}
				}
			}
		})
	}
}

func BenchmarkDivInt32(b *testing.B) {
	x, y := hardDivisions(1 << 16)
	dst := make([]int32, len(x.Data))
	b.Run("slices", func(b *testing.B) {
		for b.Loop() {
			_ = cpu.DivInt(dst, x.Data, y.Data)
		}
	})
	b.Run("scalar", func(b *testing.B) {
		for b.Loop() {
			_ = cpu.DivIntScalar(dst, x.Data, 7)
		}
	})
	b.Run("mod", func(b *testing.B) {
		for b.Loop() {
			_ = cpu.ModScalar(dst, x.Data, 7)
		}
	})
}
