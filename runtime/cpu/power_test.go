package cpu_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
)

var (
	bases = []float32{
		0, float32(math.Copysign(0, -1)), 1, -1, 2, -2, 0.5, 1.7, -3, 10, 1e-40, -1e-40, 1e-20, 3e38, -3e38, 0x1p-149, 1 + 0x1p-23, 1 - 0x1p-24,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 123.456, 7e-5,
	}
	exponents = []float32{
		0, float32(math.Copysign(0, -1)), 1, -1, 2, 3, -3, 0.5, -0.5, 2.5, 1.0 / 3, 31, 127, -126, -149, 1e10, -1e10, 1e-10, 0x1p24 + 2, 0x1p23 + 1,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1e7, -20.25,
	}
)

// agreesWithPow reports whether got is x to the power y but for its rounding.
func agreesWithPow(got, x, y float32) bool {
	want := math.Pow(float64(x), float64(y))
	switch w := float32(want); {
	case got == w, got != got && w != w:
		return math.Signbit(float64(got)) == math.Signbit(float64(w)) || w != w
	default:
		ulp := math.Abs(float64(math.Nextafter32(w, 0) - w))
		return math.Abs(float64(got)-want) <= ulp
	}
}

func TestPow(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		for n := range 300 {
			a, b, dst := kerneltest.NewSlice[float32](n, n%5), kerneltest.NewSlice[float32](n, n%3), kerneltest.NewSlice[float32](n, n%4)
			for i := range n {
				k := i*7 + n
				a.Data[i], b.Data[i] = bases[k%len(bases)], exponents[k/3%len(exponents)]
				if n%2 == 0 { // no special values
					a.Data[i], b.Data[i] = float32(k%91)/8-5.03, float32(k%17-8)/2
				}
			}
			a.Freeze()
			b.Freeze()
			check := func(what string, at func(i int) (x, y float32)) {
				t.Helper()
				for i, v := range dst.Data {
					if x, y := at(i); !agreesWithPow(v, x, y) {
						t.Fatalf("%s: %v to the power %v is %v, want %v", what, x, y, v, math.Pow(float64(x), float64(y)))
					}
				}
				for _, s := range []*kerneltest.Slice[float32]{a, b, dst} {
					s.Check(t, what)
				}
			}
			cpu.Pow(dst.Data, a.Data, b.Data)
			check("slices", func(i int) (x, y float32) { return a.Data[i], b.Data[i] })
			copy(dst.Data, a.Data)
			cpu.Pow(dst.Data, dst.Data, b.Data)
			check("in place", func(i int) (x, y float32) { return a.Data[i], b.Data[i] })
			y := exponents[n%len(exponents)]
			cpu.PowScalar(dst.Data, a.Data, y)
			check("a scalar", func(i int) (float32, float32) { return a.Data[i], y })
			x := bases[n%len(bases)]
			cpu.ScalarPow(dst.Data, x, b.Data)
			check("of a scalar", func(i int) (float32, float32) { return x, b.Data[i] })
		}
	})
}

// Remainders are exact.
func TestFmodIsExact(t *testing.T) {
	var a, b []float32
	for _, x := range append(bases, 1e30, -5.5, 0x1p27+8, 1000.1) {
		for _, y := range append(exponents, 0.1, -0.1, 3) {
			a, b = append(a, x), append(b, y)
		}
	}
	dst := make([]float32, len(a))
	cpu.Fmod(dst, a, b)
	for i, got := range dst {
		if want := float32(math.Mod(float64(a[i]), float64(b[i]))); !sameFloat(got, want) {
			t.Errorf("the remainder of %v by %v is %v, want %v", a[i], b[i], got, want)
		}
	}
}

// If some angles are too large for assembly, the results of the others do not change.
func TestAnglesOfAllSizes(t *testing.T) {
	for name, f := range map[string]struct {
		kernel func(dst, x []float32)
		want   func(float64) float64
	}{"Sin": {cpu.Sin[float32], math.Sin}, "Cos": {cpu.Cos[float32], math.Cos}, "Tan": {cpu.Tan[float32], math.Tan}} {
		atEachLevel(t, func(t *testing.T) {
			x, dst := make([]float32, 3000), make([]float32, 3000)
			for i := range x {
				x[i] = float32(i*i) * 0.37
			}
			x[2500], x[2501], x[2502] = float32(math.Inf(1)), float32(math.NaN()), -1e30
			f.kernel(dst, x)
			for i, v := range x {
				want := f.want(float64(v))
				if got := float64(dst[i]); math.Abs(got-want) > 2e-7*max(1, math.Abs(want)) || (got != got) != (want != want) {
					t.Fatalf("%s of %v is %v, want %v", name, v, got, want)
				}
			}
		})
	}
}
