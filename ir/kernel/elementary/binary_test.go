package elementary

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// special are operands at which functions of two behave specially.
var special = []float64{0, 1, 2, 3, 4, 0.5, 0.25, 1.5, 33, 1e7, 1 << 24, 1<<24 - 1, 1e30, 1e-30, 1e-44, math.MaxFloat32, math.Inf(1), math.NaN()}

func signed(list []float64) (both []float64) {
	for _, x := range list {
		both = append(both, x, -x)
	}
	return both
}

func TestPow(t *testing.T) {
	for _, p := range []precision{f32, f64} {
		most := 2.5
		if p.d == ir.F64 {
			most = 2e-15
		}
		for _, m := range devices {
			t.Run(p.d.String()+" "+m.name, func(t *testing.T) {
				t.Parallel()
				f := m.compile(t, 2, p.d, func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return Pow(b, x[0], x[1]) })
				check := func(x, y, want, most float64) {
					if got := p.of(f.call(p.bits(x), p.bits(y))); !(p.excess(got, want) <= most) {
						t.Errorf("%v^%v is %v, want %v: error %.3g", x, y, got, want, p.excess(got, want))
					}
				}
				for _, x := range signed(special) {
					for _, y := range signed(special) {
						x, y := p.of(p.bits(x)), p.of(p.bits(y))
						check(x, y, math.Pow(x, y), max(most, 1e-11))
					}
				}
				r := rand.New(rand.NewPCG(3, 4))
				for range 20000 {
					x := p.of(p.bits(math.Exp(r.NormFloat64() * 10)))
					if r.IntN(2) == 0 {
						x = p.of(p.bits(1 + r.NormFloat64()/1000))
					}
					n := r.IntN(1200) - 600
					check(x, float64(n)/4, power(x, n), most)
				}
			})
		}
	}
}

func TestMod(t *testing.T) {
	for _, p := range []precision{f32, f64} {
		f := devices[3].compile(t, 2, p.d, func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return Mod(b, x[0], x[1]) })
		check := func(x, y float64) {
			x, y = p.of(p.bits(x)), p.of(p.bits(y))
			want := math.Mod(x, y)
			got := p.of(f.call(p.bits(x), p.bits(y)))
			if got != want && got == got || math.Signbit(got) != math.Signbit(want) && got == got || (got != got) != (want != want) {
				t.Errorf("%s: %v mod %v is %v, want %v", p.d, x, y, got, want)
			}
		}
		for _, x := range signed(append(special, p.max, p.least)) {
			for _, y := range signed(append(special, p.max, p.least)) {
				check(x, y)
			}
		}
		r := rand.New(rand.NewPCG(5, 6))
		for range 10000 {
			check(p.of(r.Uint64()>>(64-p.d.Bits())), p.of(r.Uint64()>>(64-p.d.Bits())))
			check(r.NormFloat64()*100, r.NormFloat64())
		}
	}
}

// TestQuotient divides on all devices, whose own quotients may be wrong. Results are rounded correctly, and within 3
// units in the last place if a number is tiny or huge.
func TestQuotient(t *testing.T) {
	for _, p := range []precision{f32, f64} {
		for _, m := range append([]device{flushing}, devices...) {
			r := rand.New(rand.NewPCG(9, 10))
			f := m.compile(t, 2, p.d, func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return Quotient(b, x[0], x[1]) })
			check := func(x, y float64) {
				x, y = p.of(p.bits(x)), p.of(p.bits(y))
				got, want := p.of(f.call(p.bits(x), p.bits(y))), p.of(p.bits(x/y))
				if m.flushes && min(math.Abs(x), math.Abs(y), math.Abs(want)) < 0x1p-126 {
					return // nothing is promised
				}
				same := got == want && math.Signbit(got) == math.Signbit(want) || got != got && want != want
				if !m.wrong && !same {
					t.Errorf("%s, %s: %v/%v is %v, want %v", p.d, m.name, x, y, got, want)
				}
				for _, v := range []float64{x, y, want} {
					if size := math.Abs(v); size > 0 && size < 0x1p-100 || size > 0x1p100 && size < math.Inf(1) {
						if got != want && !(p.excess(got, want) <= 3) {
							t.Errorf("%s, %s: %v/%v is %v, want %v", p.d, m.name, x, y, got, want)
						}
						return
					}
				}
				// As close to x/y as want is, but for 2⁻²⁰ of the distance.
				near := math.Abs(math.FMA(-got, y, x)) <= math.Abs(math.FMA(-want, y, x))*(1+0x1p-20)
				if !same && (got == 0 || !near) {
					t.Errorf("%s, %s: %v/%v is %v, want %v", p.d, m.name, x, y, got, want)
				}
			}
			for _, x := range signed(special) {
				for _, y := range signed(special) {
					check(x, y)
				}
			}
			for range 20000 {
				check(r.NormFloat64()*100, r.NormFloat64())
				y := r.NormFloat64()
				check((float64(r.IntN(1000))+0.5)*y, y)
				check(r.NormFloat64(), 255)
				check(r.NormFloat64(), math.Ldexp(1+r.Float64(), -r.IntN(127)))
			}
		}
	}
}

// TestRoot takes roots on all devices, whose own roots may be wrong. Results are rounded correctly, and within 3 units in
// the last place if the number is tiny or huge.
func TestRoot(t *testing.T) {
	for _, p := range []precision{f32, f64} {
		for _, m := range devices {
			r := rand.New(rand.NewPCG(11, 12))
			f := m.compile(t, 1, p.d, func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return Root(b, x[0]) })
			check := func(x float64) {
				x = p.of(p.bits(x))
				got, want := p.of(f.call(p.bits(x))), p.of(p.bits(math.Sqrt(x)))
				same := got == want && math.Signbit(got) == math.Signbit(want) || got != got && want != want
				switch {
				case same:
				case m.wrong && (x < 0x1p-100 || x > 0x1p100):
					if !(p.excess(got, want) <= 3) {
						t.Errorf("%s, %s: √%v is %v, want %v", p.d, m.name, x, got, want)
					}
				// As close to √x as want is, but for 2⁻¹⁶ of the distance.
				case !m.wrong || !(math.Abs(math.FMA(-got, got, x)) <= math.Abs(math.FMA(-want, want, x))*(1+0x1p-16)):
					t.Errorf("%s, %s: √%v is %v, want %v", p.d, m.name, x, got, want)
				}
			}
			for _, x := range signed(special) {
				check(x)
			}
			for range 20000 {
				check(math.Exp(r.NormFloat64() * 20))
				n := float64(r.IntN(4097))
				check(n * n)
				check(n*n - 1)
				check(1 + r.Float64()/1000)
			}
		}
	}
}

func TestDivBy(t *testing.T) {
	for _, p := range []precision{f32, f64} {
		r := rand.New(rand.NewPCG(7, 8))
		for _, y := range []float64{0.1, -3, 1. / 255, 0x1p-20, 7e-5, 1e25, r.Float64()} {
			y = p.of(p.bits(y))
			f := devices[3].compile(t, 1, p.d, func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return DivBy(b, x[0], y) })
			check := func(x float64) {
				x = p.of(p.bits(x))
				got, want := p.of(f.call(p.bits(x))), p.of(p.bits(x/y))
				if got != want && (got == got || want == want) {
					t.Errorf("%s: %v/%v is %v, want %v", p.d, x, y, got, want)
				}
			}
			for _, x := range []float64{0, 1, y, 3 * y, math.Inf(1), math.Inf(-1), math.NaN(), 1e20} {
				check(x)
			}
			for range 5000 {
				check(r.NormFloat64() * 100)
				check((float64(r.IntN(1000)) + 0.5) * y)
			}
		}
	}
}
