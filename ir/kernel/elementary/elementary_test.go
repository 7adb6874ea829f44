package elementary

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// functions has the worst error of each function: in units in the last place of f32, and relative to
// f64 results.
var functions = []struct {
	name  string
	build func(b *kernel.Builder, x *kernel.Value) *kernel.Value
	want  func(float64) float64
	f32   float64
	f64   float64
}{
	{"exp", Exp, math.Exp, 1.5, 1e-15},
	{"expm1", Expm1, math.Expm1, 2, 1e-15},
	{"log", Log, logarithm, 1.5, 1e-15},
	{"log1p", Log1p, math.Log1p, 2, 1e-15},
	{"sin", Sin, sine, 2, 1e-15},
	{"cos", Cos, cosine, 2, 1e-15},
	{"tan", Tan, tangent, 2, 2e-15},
	{"asin", Asin, math.Asin, 1, 3e-15},
	{"acos", Acos, acos, 1.5, 3e-15},
	{"atan", Atan, math.Atan, 2.5, 1e-15},
	{"sinh", Sinh, math.Sinh, 2, 1e-15},
	{"cosh", Cosh, math.Cosh, 2, 1e-15},
	{"tanh", Tanh, math.Tanh, 3, 1e-15},
	{"asinh", Asinh, math.Asinh, 3, 2e-15},
	{"acosh", Acosh, math.Acosh, 2.5, 2e-15},
	{"atanh", Atanh, math.Atanh, 3, 2e-15},
	{"erf", Erf, math.Erf, 2, 1e-15},
	{"erfc", Erfc, math.Erfc, 4.5, 3e-15},
	{"normal", Normal, normal, 5, 3e-15},
	{"sigmoid", Sigmoid, sigmoid, 3.5, 2e-15},
	{"softplus", Softplus, softplus, 2.5, 2e-15},
	{"mish", Mish, func(x float64) float64 { return x * math.Tanh(softplus(x)) }, 4, 3e-15},
}

// logarithm scales subnormal numbers, of which math.Log has few digits.
func logarithm(x float64) float64 {
	if x > 0 && x < 0x1p-1000 {
		return math.Log(x*0x1p200) - 200*math.Ln2
	}
	return math.Log(x)
}

// acos keeps the digits that math.Acos loses near 1.
func acos(x float64) float64 {
	if x > 0.5 {
		return 2 * math.Asin(math.Sqrt((1-x)/2))
	}
	return math.Acos(x)
}

func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// normal corrects erfc(z) for the rounding of z = −x/√2.
func normal(x float64) float64 {
	z := -x / math.Sqrt2
	y := math.Erfc(z) / 2
	if !(z > 1) || y == 0 {
		return y
	}
	excess := (z*z - x*x/2) + (math.FMA(z, z, -z*z) - math.FMA(x, x, -x*x)/2)
	return y * math.Exp(excess)
}

// precision is a float type and how its errors are measured.
type precision struct {
	d     ir.DType
	of    func(uint64) float64
	bits  func(float64) uint64
	least float64 // the smallest subnormal number
	max   float64
}

var (
	f32 = precision{ir.F32, f32Of, bitsOfF32, math.SmallestNonzeroFloat32, math.MaxFloat32}
	f64 = precision{ir.F64, math.Float64frombits, math.Float64bits, math.SmallestNonzeroFloat64, math.MaxFloat64}
)

// unit returns a unit in the last place of an f32 as large as x.
func unit(x float64) float64 {
	_, e := math.Frexp(x)
	return math.Ldexp(1, max(e, -125)-24)
}

// excess returns how far a result is from what it should be, in units in the last place of f32, or
// relative to f64 results. A result may be an infinity instead of the largest number.
func (p precision) excess(got, want float64) float64 {
	if rounded := p.of(p.bits(want)); got == rounded && math.Signbit(got) == math.Signbit(want) || got != got && want != want {
		if got-got != 0 || p.d == ir.F64 {
			return 0
		}
	} else if got != got || want != want || got == 0 && want == 0 {
		return math.Inf(1)
	}
	got, want = max(-p.max, min(got, p.max)), max(-p.max*2, min(want, p.max*2))
	if p.d == ir.F32 {
		return math.Abs(got-want) / unit(want)
	}
	if got == math.MaxFloat64 || got == -math.MaxFloat64 {
		got *= 1 - 1e-15 // math.Exp and others overflow early or late
	}
	return max(0, math.Abs(got-want)-2*p.least) / max(math.Abs(want), 0x1p-1022)
}

// arguments returns numbers of all sizes and signs, and those at which functions behave specially.
func (p precision) arguments(n int) []float64 {
	list := []float64{0, 1, 2, 0.5, 0.55, 0.25, 0.75, math.Sqrt2, math.Sqrt2 / 2, math.Inf(1), math.NaN(), p.max, p.least, 3 * p.least}
	list = append(list, math.Ldexp(1, -126), math.Ldexp(1, -1022), 0x1p-24, 0x1p-12, 0x1p60, 0x1p10, 0x1p20, 10.5, 27.5, 15, 39, 20, 40)
	list = append(list, 87.33654, 88.02969, 88.72283, 89.41598, 103.27893, 103.97208, 104, 708.39641, 709.08957, 709.78271, 710.47586, 744.44007, 745.13321, 746)
	for k := range 700 {
		list = append(list, float64(k)*math.Pi/4)
	}
	if p.d == ir.F64 {
		list = append(list, 6381956970095103*math.Ldexp(1, 797)) // the nearest to a multiple of π/2
	}
	r := rand.New(rand.NewPCG(1, 2))
	shift := p.d.Bits() - 16
	for range n {
		list = append(list, p.of(uint64(r.Uint32N(1<<16))<<shift|r.Uint64()&(1<<shift-1)))
		list = append(list, r.Float64()*2, r.Float64()*20)
	}
	var all []float64
	for _, x := range list {
		x = p.of(p.bits(x))
		all = append(all, x, -x, math.Nextafter(x, 0))
	}
	return all
}

func TestFunctions(t *testing.T) {
	n := 6000
	if testing.Short() {
		n = 500
	}
	for _, p := range []precision{f32, f64} {
		arguments := p.arguments(n)
		for _, f := range functions {
			t.Run(p.d.String()+" "+f.name, func(t *testing.T) {
				t.Parallel()
				most := f.f32
				if p.d == ir.F64 {
					most = f.f64
				}
				wants := make([]float64, len(arguments))
				for i, x := range arguments {
					wants[i] = f.want(p.of(p.bits(x)))
				}
				for _, m := range devices {
					function := m.compile(t, 1, p.d, func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return f.build(b, x[0]) })
					worst, at := 0.0, 0.0
					for i, x := range arguments {
						x = p.of(p.bits(x))
						got, want := p.of(function.call(p.bits(x))), wants[i]
						if f.name == "mish" && x < 0 && math.Abs(got-want) <= -x*p.least {
							continue // a subnormal sigmoid, rounded, times x
						}
						if e := p.excess(got, want); e > worst {
							worst, at = e, x
						}
					}
					if worst > most {
						t.Errorf("%s: of %v is %v, want %v: error %.3g", m.name, at, p.of(function.call(p.bits(at))), f.want(at), worst)
					}
					t.Logf("%s: error %.3g at %v", m.name, worst, at)
				}
			})
		}
	}
}

// TestNarrowGelu compares [NarrowGelu] with the definition. Results below 2⁻¹⁰⁰ may have any small value.
func TestNarrowGelu(t *testing.T) {
	for _, m := range devices {
		function := m.compile(t, 1, ir.F32, func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return NarrowGelu(b, x[0]) })
		worst, at := 0.0, 0.0
		for _, x := range f32.arguments(6000) {
			x = f32.of(f32.bits(x))
			got, want := f32.of(function.call(f32.bits(x))), x*normal(x)
			if x < -12 {
				want = 0
			}
			if got == want || got != got && want != want || math.Abs(want) < 0x1p-100 && math.Abs(got) < 0x1p-99 {
				continue
			}
			if e := math.Abs(got-want) / math.Abs(want); !(e <= worst) {
				worst, at = e, x
			}
		}
		if !(worst <= 0x1p-15) {
			t.Errorf("%s: of %v: error %.3g", m.name, at, worst)
		}
		t.Logf("%s: error %.3g at %v", m.name, worst, at)
	}
}
