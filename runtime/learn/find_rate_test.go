package learn

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/rt"
)

// TestFindRate finds a rate, and asserts that a run after it has the same bytes as without it.
func TestFindRate(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	newRig(t, whole, nil).mustFit(t)
	r := newRig(t, dir, nil)
	curve, err := r.learner.FindRate(t.Context(), loaded(50, 8, true))
	if err != nil {
		t.Fatal(err)
	}
	n := len(curve.Rates)
	if n < 50 || n > 100 || n != len(curve.Losses) || curve.Rates[0] != 1e-7 || curve.Rates[n-1] > 10.0001 {
		t.Errorf("%d rates from %g to %g", n, curve.Rates[0], curve.Rates[n-1])
	}
	if !(curve.Suggested > 1e-3 && curve.Suggested < 3) {
		t.Errorf("suggested %g", curve.Suggested)
	}
	r.mustFit(t)
	sameRun(t, dir, whole)
}

func TestSuggestedRate(t *testing.T) {
	flat := []float64{1, 9, 1, 9, 1, 9, 1, 9, 1, 9} // the first tenth
	for _, tt := range []struct {
		losses []float64
		want   float64
	}{
		{[]float64{5, 4.9, 4, 2, 1.5, 1.4, 9}, 12},
		{[]float64{1, 2, 3}, 0},
		{nil, 0},
	} {
		c := RateCurve{Losses: append(flat[:10:10], tt.losses...)}
		for i := range c.Losses {
			c.Rates = append(c.Rates, math.Exp(float64(i)))
		}
		if c.suggest(); tt.want > 0 && c.Suggested != math.Exp(tt.want) || tt.want == 0 && c.Suggested != 0 {
			t.Errorf("%v: %g, want e^%g", tt.losses, c.Suggested, tt.want)
		}
	}
	none := RateCurve{}
	if none.suggest(); none.Suggested != 0 {
		t.Errorf("without losses: %g", none.Suggested)
	}
}

// TestFindRateRestores asserts that the weights are as before after an error, and after a loss that is
// not finite.
func TestFindRateRestores(t *testing.T) {
	broken := errors.New("broken")
	for _, fails := range []bool{true, false} {
		r := newRig(t, "", nil)
		before, err := rt.CollectState(map[string]rt.Stater{"x": r.toy})
		if err != nil {
			t.Fatal(err)
		}
		digest, err := before.Sum()
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		step := r.learner.task.Step
		r.learner.task.Step = func(b *set) (metric.Values, error) {
			out, err := step(b)
			if calls++; calls == 10 {
				if fails {
					return out, broken
				}
				out.Loss = float32(nan)
			}
			return out, err
		}
		curve, err := r.learner.FindRate(t.Context(), loaded(50, 8, true))
		if errors.Is(err, broken) != fails || !fails && err != nil || len(curve.Rates) != 9 {
			t.Errorf("%d rates, error %v", len(curve.Rates), err)
		}
		after, err := rt.CollectState(map[string]rt.Stater{"x": r.toy})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := after.Sum(); err != nil || got != digest {
			t.Errorf("the weights changed: %v", err)
		}
		if !r.toy.params.UsedUp() {
			t.Error("gradients are present")
		}
	}
}

func TestFindRateErrors(t *testing.T) {
	r := newRig(t, "", nil)
	_, err := r.learner.FindRate(t.Context(), nil)
	wantError(t, err, "find rate: no training data")
	_, err = r.learner.FindRate(t.Context(), loaded(5, 0, false))
	wantError(t, err, "find rate: load: batches of 0 items")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = r.learner.FindRate(ctx, loaded(50, 8, true))
	wantError(t, err, "context canceled")
	m := newToy(t)
	l, err := New(m, m.task(), Options{Epochs: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.FindRate(t.Context(), loaded(50, 8, true))
	wantError(t, err, "find rate: no optimizers")
}
