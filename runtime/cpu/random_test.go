package cpu

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

func TestRandomNumbersAreThoseOfTheirPlaces(t *testing.T) {
	uniform, normal := make([]float64, 1000), make([]float32, 1000)
	RandomUniform(uniform, -2, 3, 5, nil)
	RandomNormal(normal, 10, 0.5, -5, nil)
	seed := -5
	for i := range uint64(1000) {
		if want := -2 + float64(5*rt.UniformAt(5, i)); uniform[i] != want {
			t.Fatalf("uniform number %d is %v, want %v", i, uniform[i], want)
		}
		if want := float32(10 + float64(0.5*rt.NormalAt(uint64(seed), i))); normal[i] != want {
			t.Fatalf("normal number %d is %v, want %v", i, normal[i], want)
		}
	}
}

func TestMultinomialHasTheProbabilities(t *testing.T) {
	const samples = 50000
	x := []float32{
		0, float32(math.Log(2)), float32(math.Log(5)), -100,
		1000, float32(math.Inf(-1)), 1000, float32(math.Inf(-1)),
	}
	p := []float64{1. / 8, 2. / 8, 5. / 8, 0, 0.5, 0, 0.5, 0}
	for seed := range int64(5) {
		y := make([]int32, 2*samples)
		if err := Multinomial(y, x, 2, 4, samples, seed); err != nil {
			t.Fatal(err)
		}
		var count [8]float64
		for i, c := range y {
			count[i/samples*4+int(c)]++
		}
		for row := range 2 {
			chi := 0.0
			for c := row * 4; c < row*4+4; c++ {
				if p[c] == 0 {
					if count[c] > 0 {
						t.Errorf("seed %d: column %d is drawn %v times", seed, c, count[c])
					}
					continue
				}
				d := count[c] - p[c]*samples
				chi += d * d / (p[c] * samples)
			}
			// 18.4 is exceeded once in ten thousand times with two degrees of freedom.
			if chi > 18.4 {
				t.Errorf("seed %d: χ² of row %d is %v", seed, row, chi)
			}
		}
	}
}

func TestMultinomialOfOddRows(t *testing.T) {
	nan := float32(math.NaN())
	y := make([]int64, 3)
	if err := Multinomial(y, []float32{nan, 1, 2, 5, nan, 0, nan, nan, nan}, 3, 3, 1, 1); err != nil {
		t.Fatal(err)
	}
	for i, c := range y {
		if c != 2 {
			t.Errorf("row %d without probabilities gives column %d, want the last", i, c)
		}
	}
	if err := Multinomial(make([]int64, 0), []float32{}, 0, 0, 4, 1); err != nil {
		t.Error(err)
	}
	if err := Multinomial(y, []float32{}, 3, 0, 1, 1); err == nil {
		t.Error("no error without columns")
	}
}
