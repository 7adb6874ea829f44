package learn

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

// TestAverage compares averages with the definition, and what validation sees.
func TestAverage(t *testing.T) {
	const decay = 0.75
	r := newRig(t, "", func(o *Options) { o.Average, o.Accumulate = EMA(decay), 1 })
	params := r.toy.params
	mean := make([]float64, len(params.Data))
	for i, w := range params.Data {
		mean[i] = float64(w)
	}
	near := func(x []float32) bool {
		for i := range mean {
			if math.Abs(mean[i]-float64(x[i])) > 1e-5 {
				return false
			}
		}
		return true
	}
	r.show.on = func(e Event) {
		if s, ok := e.(Stepped); ok && s.Split == Train {
			for i, w := range params.Data {
				mean[i] = decay*mean[i] + (1-decay)*float64(w)
			}
		}
	}
	seen := 0
	eval := r.learner.task.Eval
	r.learner.task.Eval = func(b *set) (metric.Values, error) {
		if seen++; !near(params.Data) {
			t.Errorf("validation sees %v, want %v", params.Data, mean)
		}
		return eval(b)
	}
	r.mustFit(t)
	last := slices.Clone(params.Data)
	if seen == 0 || near(last) {
		t.Error("the weights themselves are the averages")
	}
	if err := r.learner.o.Average.Use(); err != nil || !near(params.Data) {
		t.Errorf("weights are %v, want %v: %v", params.Data, mean, err)
	}
}

func TestDecayOfAverage(t *testing.T) {
	m := newToy(t)
	for _, decay := range []float64{0, 1, -1, math.NaN()} {
		_, err := New(m, m.task(), Options{Epochs: 1, Average: EMA(decay)})
		wantError(t, err, "between 0 and 1 expected")
	}
	if err := EMA(0.5).Use(); err != nil {
		t.Error(err)
	}
}
