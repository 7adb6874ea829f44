package learn

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// TestPlateau compares factors with those of PyTorch's ReduceLROnPlateau(factor=0.5, patience=1,
// threshold=0, threshold_mode="abs"), whose patience is one less than Times.
func TestPlateau(t *testing.T) {
	for _, tt := range []struct {
		r      Reducer
		values []float64
		want   []float64
	}{
		{Reducer{By: 0.5, Times: 2}, []float64{5, 4, 4, 4, 4, 4, 3}, []float64{1, 1, 1, 0.5, 0.5, 0.25, 0.25}},
		{Reducer{By: 0.1, Times: 1, Least: 0.05}, []float64{5, 6, 6, 6}, []float64{1, 0.1, 0.05, 0.05}},
		{Reducer{By: 0.5, Times: 1, MinDelta: 1}, []float64{5, 4.5, 3.9}, []float64{1, 0.5, 0.5}},
		{Reducer{By: 0.5, Times: 1}, []float64{5, math.NaN(), 4}, []float64{1, 0.5, 0.5}},
	} {
		tt.r.Key = "valid loss"
		if err := tt.r.bind(someDirections); err != nil {
			t.Fatal(err)
		}
		for i, v := range tt.values {
			before := tt.r.rate()
			tt.r.see(map[string]float64{"train loss": 0}) // another metric
			changed := tt.r.see(map[string]float64{"valid loss": v})
			if got := tt.r.rate(); got != tt.want[i] || changed != (got != before) {
				t.Errorf("%+v: after %v the factor is %g, want %g; changed is %v", tt.r, tt.values[:i+1], got, tt.want[i], changed)
			}
		}
	}
	if (*Reducer)(nil).rate() != 1 {
		t.Error("the factor of nil is not 1")
	}
}

// TestPlateauSlowsARun asserts that rates are multiplied by the factor, and that it is saved.
func TestPlateauSlowsARun(t *testing.T) {
	dir := t.TempDir()
	worse := func(o *Options) {
		slower := Plateau("valid loss", 0.5, 1)
		slower.MinDelta = 1e9 // nothing is better
		o.Optimizers[0].Factor, o.Optimizers[1].Factor = slower, slower
		o.Optimizers[0].Rate = func(int) float64 { return 1e-3 }
	}
	rates := func(r *rig) (last Number) {
		for _, e := range r.show.events {
			if s, ok := e.(Stepped); ok && s.Rate != 0 {
				last = s.Rate
			}
		}
		return last
	}
	r := newRig(t, dir, worse)
	r.mustFit(t)
	if got := rates(r); got != 5e-4 { // the second epoch halves it
		t.Errorf("rate %g", got)
	}
	r = newRig(t, dir, func(o *Options) { worse(o); o.Resume, o.Epochs = Continue, 4 })
	r.mustFit(t)
	if got := rates(r); got != 2.5e-4 {
		t.Errorf("rate %g after the run is continued", got)
	}
}

func TestStateOfPlateau(t *testing.T) {
	a := Plateau("valid loss", 0.5, 2)
	for _, v := range []float64{5, 6, 6, 6} {
		a.see(map[string]float64{"valid loss": v})
	}
	w, err := rt.CollectState(map[string]rt.Stater{"x": a})
	if err != nil {
		t.Fatal(err)
	}
	b := Plateau("valid loss", 0.5, 2)
	if err := rt.RestoreState(w, map[string]rt.Stater{"x": b}); err != nil || b.factor != a.factor || b.counts != a.counts {
		t.Errorf("%+v, want %+v: %v", b, a, err)
	}
	wantError(t, rt.RestoreState(w, map[string]rt.Stater{"x": Plateau("valid accuracy", 0.5, 2)}), "plateau valid loss")
}
