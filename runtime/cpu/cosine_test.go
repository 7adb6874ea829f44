package cpu

import (
	"math"
	"testing"
)

func TestCosineWindow(t *testing.T) {
	for _, test := range []struct {
		name     string
		periodic bool
		want     []float64
	}{
		{"periodic", true, []float64{0, 0.5, 1, 0.5}},
		{"symmetric", false, []float64{0, 0.5, 1, 0.5, 0}},
		{"symmetric of one element", false, []float64{1}},
		{"periodic of one element", true, []float64{0}},
		{"empty", false, []float64{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := make([]float64, len(test.want))
			CosineWindow(got, test.periodic, 0.5, 0.5, 0)
			for i, v := range got {
				if math.Abs(v-test.want[i]) > 1e-15 {
					t.Errorf("element %d is %v, want %v", i, v, test.want[i])
				}
			}
		})
	}
	got := make([]float32, 5)
	CosineWindow(got, false, 0.42, 0.5, 0.08)
	for i, want := range []float32{0, 0.34, 1, 0.34, 0} {
		if math.Abs(float64(got[i]-want)) > 1e-7 {
			t.Errorf("element %d of a Blackman window is %v, want %v", i, got[i], want)
		}
	}
}

func TestMelWeightMatrix(t *testing.T) {
	const bands, length = 8, 512
	w := make([]float64, (length/2+1)*bands)
	MelWeightMatrix(w, bands, length, 16000, 0, 8000)
	last := -1
	for j := range bands {
		top, at, sum := 0.0, 0, 0.0
		for i := range length/2 + 1 {
			v := w[i*bands+j]
			if v < 0 || v > 1 {
				t.Fatalf("weight %v", v)
			}
			if v > top {
				top, at = v, i
			}
			sum += v
		}
		if top != 1 || at <= last || sum < 1 {
			t.Errorf("band %d: top %v at %d, after %d, sum %v", j, top, at, last, sum)
		}
		last = at
	}
	narrow := []float32{9, 9}
	MelWeightMatrix(narrow, 1, 2, 1, 5, 5) // beyond the spectrum
	MelWeightMatrix([]float32{}, 0, 7, 1, 0, 1)
	if narrow[0] != 0 || narrow[1] != 0 {
		t.Errorf("weights beyond the spectrum are %v", narrow)
	}
}
