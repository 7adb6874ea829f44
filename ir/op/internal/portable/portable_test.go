package portable

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
)

// unary pairs each function with its counterpart in package math, and gives the range of arguments
// in which the two are compared.
var unary = []struct {
	name      string
	got, want func(float64) float64
	lo, hi    float64
}{
	{"exp", Exp, math.Exp, -745, 710},
	{"expm1", Expm1, math.Expm1, -40, 709},
	{"expm1 near 0", Expm1, math.Expm1, -0.5, 0.5},
	{"log", Log, math.Log, 1e-300, 1e300},
	{"log near 1", Log, math.Log, 0.5, 2},
	{"log1p", Log1p, math.Log1p, -0.999, 10},
	{"sinh", Sinh, math.Sinh, -709, 709},
	{"sinh near 0", Sinh, math.Sinh, -1, 1},
	{"cosh", Cosh, math.Cosh, -709, 709},
	{"tanh", Tanh, math.Tanh, -25, 25},
	{"asinh", Asinh, math.Asinh, -1e12, 1e12},
	{"asinh near 0", Asinh, math.Asinh, -2, 2},
	{"acosh", Acosh, math.Acosh, 1, 1e12},
	{"atanh", Atanh, math.Atanh, -1, 1},
	{"sin", Sin, math.Sin, -10, 10},
	{"sin of much", Sin, math.Sin, -1e9, 1e9},
	{"sin of very much", Sin, math.Sin, -1e300, 1e300},
	{"cos", Cos, math.Cos, -10, 10},
	{"cos of very much", Cos, math.Cos, -1e300, 1e300},
	{"tan", Tan, math.Tan, -1.5, 1.5},
	{"atan", Atan, math.Atan, -1e3, 1e3},
	{"atan near 0", Atan, math.Atan, -1.5, 1.5},
	{"asin", Asin, math.Asin, -1, 1},
	{"acos", Acos, math.Acos, -1, 1},
	{"erf", Erf, math.Erf, -6, 6},
	{"erfc", Erfc, math.Erfc, -6, 26},
}

// near reports whether got differs from want by at most part, relative to want. The difference is
// relative to 1e-2 if want is smaller, because package math has lost digits there if its result is
// a difference.
func near(got, want, part float64) bool {
	if got == want || got != got && want != want {
		return true
	}
	return math.Abs(got-want) <= part*max(math.Abs(want), 1e-2)
}

func TestFunctionsAreThoseOfMath(t *testing.T) {
	for _, f := range unary {
		t.Run(f.name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				x := rapid.Float64Range(f.lo, f.hi).Draw(r, "x")
				if got, want := f.got(x), f.want(x); !near(got, want, 1e-13) {
					t.Fatalf("of %v is %v, want %v", x, got, want)
				}
			})
			const steps = 4000
			for i := range steps + 1 {
				x := f.lo + (f.hi-f.lo)/steps*float64(i)
				if got, want := f.got(x), f.want(x); !near(got, want, 1e-13) {
					t.Fatalf("of %v is %v, want %v", x, got, want)
				}
			}
		})
		t.Run(f.name+" of special values", func(t *testing.T) {
			for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 1e-300, -1e-300, math.MaxFloat64, -math.MaxFloat64, 2, -2} {
				got, want := f.got(x), f.want(x)
				if !near(got, want, 1e-14) || math.Signbit(got) != math.Signbit(want) && want == want {
					t.Errorf("of %v is %v, want %v", x, got, want)
				}
			}
		})
	}
}

func TestPowIsThatOfMath(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, 3, -3, -0.5, 65, -65, 1e300, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, x := range special {
		for _, y := range special {
			if got, want := Pow(x, y), math.Pow(x, y); !near(got, want, 1e-12) {
				t.Errorf("Pow(%v, %v) is %v, want %v", x, y, got, want)
			}
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		x := rapid.Float64Range(-100, 100).Draw(r, "x")
		y := rapid.Float64Range(-100, 100).Draw(r, "y")
		if rapid.Bool().Draw(r, "whole") {
			y = math.Round(y)
		}
		got, want := Pow(x, y), math.Pow(x, y)
		if !near(got, want, 1e-12) {
			t.Fatalf("Pow(%v, %v) is %v, want %v", x, y, got, want)
		}
	})
}

func TestResultsHaveTheSameBitsEverywhere(t *testing.T) {
	for _, test := range []struct {
		name string
		got  float64
		want uint64
	}{
		{"exp", Exp(1.25), 0x400bec38edb0faf0},
		{"log", Log(7.3), 0x3fffce55551e156e},
		{"sin", Sin(2.5), 0x3fe326af0dcfcab0},
		{"sin of much", Sin(1e22), 0xbfeb453ab76bf397},
		{"atan", Atan(0.7), 0x3fe38b112d7bd4ad},
		{"tanh", Tanh(0.3), 0x3fd2a4dda7d914f9},
		{"erf", Erf(0.6), 0x3fe352ca0235d4f6},
		{"erfc", Erfc(3), 0x3ef729df6503422b},
		{"pow", Pow(2.5, 1.7), 0x4012fdcf53f3e6f3},
	} {
		if got := math.Float64bits(test.got); got != test.want {
			t.Errorf("%s is %#x (%v), want %#x", test.name, got, test.got, test.want)
		}
	}
}
