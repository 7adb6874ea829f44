package rt

import (
	"math"
	"slices"
	"testing"
)

func TestPhiloxIsThatOfItsAuthors(t *testing.T) {
	a, b := Philox(0, 0)
	if a != 0xe169c58d_6627e8d5 || b != 0x9b00dbd8_bc57ac4c {
		t.Errorf("%x %x", a, b)
	}
}

func TestNormalAtUsesExactFunctions(t *testing.T) {
	for i := range uint64(20000) {
		x := UniformAt(1, i)
		if got, want := logOf(1-x), math.Log(1-x); math.Abs(got-want) > 4e-16*math.Max(1, math.Abs(want)) {
			t.Fatalf("log %v is %v, want %v", 1-x, got, want)
		}
		if got, want := cosTurn(x), math.Cos(2*math.Pi*x); math.Abs(got-want) > 1e-15 {
			t.Fatalf("cos of %v turns is %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{0, 0.125, 0.25, 0.375, 0.5, 0.75, 1 - 1.0/(1<<53)} {
		if got, want := cosTurn(x), math.Cos(2*math.Pi*x); math.Abs(got-want) > 1e-15 {
			t.Errorf("cos of %v turns is %v, want %v", x, got, want)
		}
	}
}

// kolmogorov returns Kolmogorov's statistic: the largest distance between the distribution of the
// numbers and the distribution function below, times the square root of their number.
func kolmogorov(x []float64, below func(float64) float64) float64 {
	slices.Sort(x)
	worst, n := 0.0, float64(len(x))
	for i, v := range x {
		p := below(v)
		worst = max(worst, p-float64(i)/n, float64(i+1)/n-p)
	}
	return worst * math.Sqrt(n)
}

func TestRandomNumbersHaveTheirDistributions(t *testing.T) {
	const n = 100000
	for seed := range uint64(8) {
		uniform, normal := make([]float64, n), make([]float64, n)
		var mean, square, next float64
		for i := range uint64(n) {
			uniform[i], normal[i] = UniformAt(seed, i), NormalAt(seed, i)
			mean += normal[i] / n
			square += normal[i] * normal[i] / n
			if i > 0 {
				next += normal[i] * normal[i-1] / n
			}
		}
		if math.Abs(mean) > 0.015 || math.Abs(square-1) > 0.025 || math.Abs(next) > 0.015 {
			t.Errorf("seed %d: mean %v, mean square %v, correlation of neighbours %v", seed, mean, square, next)
		}
		// 2.2 is exceeded once in ten thousand times.
		if k := kolmogorov(uniform, func(x float64) float64 { return x }); k > 2.2 {
			t.Errorf("seed %d: Kolmogorov's statistic of uniform numbers is %v", seed, k)
		}
		if k := kolmogorov(normal, func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }); k > 2.2 {
			t.Errorf("seed %d: Kolmogorov's statistic of normal numbers is %v", seed, k)
		}
	}
}

func TestRandomNumbersAreTheSameEverywhere(t *testing.T) {
	for _, test := range []struct {
		got  float64
		want uint64
	}{
		{UniformAt(7, 1<<40), 0x3fd440da6e3a1ffe},
		{NormalAt(7, 0), 0x3ff6e164bc12be7e},
		{NormalAt(1<<63, 1000), 0xbff4f3f00cc3cd29},
	} {
		if bits := math.Float64bits(test.got); bits != test.want {
			t.Errorf("%v is %#x, want %#x", test.got, bits, test.want)
		}
	}
}
