package data_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/rt"
)

var nan = float32(math.NaN())

func TestStandardizer(t *testing.T) {
	rows := [][3]float32{{1, 10, 5}, {2, nan, 5}, {3, 30, 5}, {6, 20, 5}}
	s, err := data.Standardize(data.Of(rows), func(x *[3]float32) []float32 { return x[:] })
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range [][2]float64{{3, math.Sqrt(3.5)}, {20, math.Sqrt(200. / 3)}, {5, 0}} {
		if math.Abs(s.Mean(k)-want[0]) > 1e-12 || math.Abs(s.Deviation(k)-want[1]) > 1e-12 {
			t.Errorf("column %d: mean %v, deviation %v, want %v", k, s.Mean(k), s.Deviation(k), want)
		}
	}
	row := []float32{6, nan, 7}
	if err := s.Apply(row); err != nil || math.Abs(float64(row[0])-3/math.Sqrt(3.5)) > 1e-6 || row[1] != 0 || row[2] != 0 {
		t.Errorf("%v, %v", row, err)
	}
	if err := s.Undo(row); err != nil || math.Abs(float64(row[0])-6) > 1e-6 || row[1] != 20 || row[2] != 5 {
		t.Errorf("%v, %v", row, err)
	}
	row = []float32{nan, nan, 7}
	if err := s.Fill(row); err != nil || !slices.Equal(row, []float32{3, 20, 7}) {
		t.Errorf("%v, %v", row, err)
	}
	none := data.NewStandardizer(1)
	row = []float32{4}
	if err := none.Undo(row); err != nil || row[0] != 4 || !math.IsNaN(none.Mean(0)) || !math.IsNaN(none.Deviation(0)) || !math.IsNaN(none.Mean(1)) || !math.IsNaN(s.Deviation(-1)) {
		t.Errorf("without values: %v, %v, mean %v", row, err, none.Mean(0))
	}
	t.Run("saved", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state")
		if err := rt.SaveState(path, map[string]rt.Stater{"scale": s}); err != nil {
			t.Fatal(err)
		}
		again := data.NewStandardizer(3)
		if err := rt.LoadState(path, map[string]rt.Stater{"scale": again}); err != nil {
			t.Fatal(err)
		}
		for _, x := range []*data.Standardizer{s, again} {
			if err := x.Add([]float32{9, 9, 9}); err != nil {
				t.Fatal(err)
			}
		}
		for k := range 3 {
			if s.Mean(k) != again.Mean(k) || s.Deviation(k) != again.Deviation(k) {
				t.Errorf("column %d: mean %v, deviation %v; before saving %v, %v", k, again.Mean(k), again.Deviation(k), s.Mean(k), s.Deviation(k))
			}
		}
		if err := rt.LoadState(path, map[string]rt.Stater{"scale": data.NewStandardizer(2)}); err == nil {
			t.Error("statistics of three columns were restored into two")
		}
	})
}

// TestStandardizerOfShiftedColumns compares with two passes in float64. A large mean does not cost
// precision.
func TestStandardizerOfShiftedColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shift := rapid.SampledFrom([]float32{0, 1e6, -3e4}).Draw(t, "shift")
		values := rapid.SliceOfN(rapid.Float32Range(-100, 100), 1, 50).Draw(t, "values")
		s := data.NewStandardizer(1)
		var sum, squares float64
		for i := range values {
			values[i] += shift
			sum += float64(values[i])
			if err := s.Add(values[i : i+1]); err != nil {
				t.Fatal(err)
			}
		}
		mean := sum / float64(len(values))
		for _, v := range values {
			squares += (float64(v) - mean) * (float64(v) - mean)
		}
		deviation := math.Sqrt(squares / float64(len(values)))
		if math.Abs(s.Mean(0)-mean) > 1e-9*(1+math.Abs(mean)) || math.Abs(s.Deviation(0)-deviation) > 1e-6*(1e-3+deviation) {
			t.Errorf("mean %v, deviation %v, want %v and %v", s.Mean(0), s.Deviation(0), mean, deviation)
		}
	})
}

func TestMistakesInStandardizer(t *testing.T) {
	s := data.NewStandardizer(2)
	inf := float32(math.Inf(1))
	for _, err := range []error{s.Add(make([]float32, 1)), s.Apply(make([]float32, 1)), s.Undo(make([]float32, 1)), s.Fill(make([]float32, 1))} {
		wantError(t, err, "row of 1 columns: 2 expected")
	}
	wantError(t, s.Add([]float32{1, inf}), "column 1 is +Inf")
	if !math.IsNaN(s.Mean(0)) {
		t.Error("a row with an infinite value was counted")
	}
	wantError(t, failed(data.Standardize(numbers(0), func(*int) []float32 { return nil })), "standardize: the data set has no items")
	wantError(t, failed(data.Standardize(numbers(1), nil)), "standardize: no function")
	wantError(t, failed(data.Standardize(numbers(3), func(x *int) []float32 { return make([]float32, 1+*x/2) })), "standardize: item 2: row of 2 columns: 1 expected")
	if err := data.NewStandardizer(-1).Add(nil); err != nil {
		t.Error(err)
	}
}
