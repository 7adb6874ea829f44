package data_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/rt"
)

func TestBins(t *testing.T) {
	made := func(b *data.Bins, err error) *data.Bins {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	ages := made(data.NewBins(18, 65))
	path := filepath.Join(t.TempDir(), "state")
	if err := rt.SaveState(path, map[string]rt.Stater{"ages": ages}); err != nil {
		t.Fatal(err)
	}
	var again data.Bins
	if err := rt.LoadState(path, map[string]rt.Stater{"ages": &again}); err != nil {
		t.Fatal(err)
	}
	values := []float64{math.NaN(), 5, 1, 2, 2, 2, 3, 4, 9}
	for _, tt := range []struct {
		name string
		b    *data.Bins
		bins int
		want map[float64]int
	}{
		{"edges", ages, 3, map[float64]int{math.Inf(-1): 0, 17.9: 0, 18: 1, 64: 1, 65: 2, math.Inf(1): 2}},
		{"edges that were saved", &again, 3, map[float64]int{17.9: 0, 18: 1, 65: 2}},
		{"no edges", new(data.Bins), 1, map[float64]int{-1: 0, 1: 0}},
		{"equal", made(data.EqualBins(-1, 1, 4)), 4, map[float64]int{-9: 0, -1: 0, -0.5: 1, 0: 2, 0.49: 2, 0.5: 3, 9: 3}},
		{"one", made(data.EqualBins(0, 1, 1)), 1, map[float64]int{5: 0}},
		{"quantiles", made(data.QuantileBins(values, 4)), 4, map[float64]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 9: 3}},
		{"halves", made(data.QuantileBins(values, 2)), 2, map[float64]int{2: 0, 2.9: 0, 3: 1}},
		{"more quantiles than values", made(data.QuantileBins([]float64{1, 2}, math.MaxInt)), 2, map[float64]int{1: 0, 2: 1}},
		{"equal values", made(data.QuantileBins([]float64{3, 3, 3}, 3)), 1, map[float64]int{3: 0}},
		{"no values", made(data.QuantileBins(nil, 3)), 1, map[float64]int{3: 0}},
	} {
		if n := tt.b.Len(); n != tt.bins {
			t.Errorf("%s: %d bins, want %d", tt.name, n, tt.bins)
		}
		for x, want := range tt.want {
			if got := tt.b.Index(x); got != want {
				t.Errorf("%s: %v is in bin %d, want %d", tt.name, x, got, want)
			}
		}
		if got := tt.b.Index(math.NaN()); got != -1 {
			t.Errorf("%s: NaN is in bin %d", tt.name, got)
		}
	}
	for name, err := range map[string]error{
		"equal edges":      failed(data.NewBins(1, 1)),
		"falling edges":    failed(data.NewBins(2, 1)),
		"NaN":              failed(data.NewBins(math.NaN())),
		"infinite":         failed(data.NewBins(math.Inf(1))),
		"no bins":          failed(data.EqualBins(0, 1, 0)),
		"no range":         failed(data.EqualBins(1, 1, 2)),
		"NaN as a range":   failed(data.EqualBins(math.NaN(), 1, 2)),
		"an endless range": failed(data.EqualBins(-math.MaxFloat64, math.MaxFloat64, 2)),
		"too narrow":       failed(data.EqualBins(1, math.Nextafter(1, 2), 9)),
		"all bins":         failed(data.EqualBins(0, 1, math.MaxInt)),
		"no quantiles":     failed(data.QuantileBins(values, 0)),
		"infinite values":  failed(data.QuantileBins([]float64{1, math.Inf(1)}, 1)),
		"-infinite values": failed(data.QuantileBins([]float64{1, math.Inf(-1)}, 1)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
