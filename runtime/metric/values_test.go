package metric_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

func TestValuesChecks(t *testing.T) {
	right := metric.Values{Predicted: []float32{1, 2}, Targets: []float32{1, 3}, Width: 2}
	for _, tt := range []struct {
		wrong metric.Values
		want  string
	}{
		{metric.Values{Predicted: make([]float32, 4), Targets: make([]float32, 2), Width: 2}, "4 predictions and 2 targets: as many expected"},
		{metric.Values{Predicted: make([]float32, 3), Targets: make([]float32, 3), Width: 2}, "3 targets with 2 values an item: a multiple expected"},
		{metric.Values{Predicted: make([]float32, 3), Targets: make([]float32, 3), Width: -1}, "3 targets with -1 values an item: a multiple expected"},
	} {
		for _, m := range valueMetrics {
			fails(t, m, tt.wrong, right, m.Name+": "+tt.want)
		}
	}
	for _, m := range valueMetrics[4:] {
		fails(t, m, metric.Values{Predicted: make([]float32, 3), Targets: make([]float32, 3), Width: 3}, right, m.Name+": 3 values an item, but 2 before")
	}
	fails(t, metric.Spearman(), metric.Values{Predicted: []float32{0, 0, 0, nan}, Targets: make([]float32, 4), Width: 2}, right,
		"Spearman: item 1: the prediction is NaN, which has no rank")
}

func TestValuesLost(t *testing.T) {
	o := metric.Values{Loss: 2, Targets: []float32{1, nan, nan, nan, 0, 0}, Width: 2}
	if loss, items := o.Lost(); loss != 2 || items != 2 {
		t.Errorf("loss %v of %d items, want 2 of 2", loss, items)
	}
	o.Width = -1
	if _, items := o.Lost(); items != 0 {
		t.Errorf("%d items of width -1", items)
	}
}

// TestConstantValues asserts which metrics are undefined if nothing varies.
func TestConstantValues(t *testing.T) {
	o := metric.Values{Predicted: []float32{2, 2, 2}, Targets: []float32{3, 3, 3}}
	for _, m := range valueMetrics {
		want := map[string]float64{"MSE": 1, "RMSE": 1, "MAE": 1, "MAPE": 100. / 3}
		w, ok := want[m.Name]
		if !ok {
			w = math.NaN()
		}
		if got := value(t, m, o); !same(got, w) {
			t.Errorf("%s: %v, want %v", m.Name, got, w)
		}
	}
	zero := metric.Values{Predicted: []float32{1}, Targets: []float32{0}}
	if got, want := value(t, metric.MAPE(), zero), 100*0x1p52; got != want {
		t.Errorf("MAPE of a target of 0: %v, want %v", got, want)
	}
}

// TestLargeOffset has values whose squares need more digits than a float64 has: sums of squares would
// lose the differences.
func TestLargeOffset(t *testing.T) {
	const offset = 1 << 23
	o := metric.Values{}
	small := metric.Values{}
	for i := range 1000 {
		target, predicted := float32(i%2), float32(i%2)
		if i%10 == 0 {
			predicted = 1 - predicted
		}
		small.Targets, small.Predicted = append(small.Targets, target), append(small.Predicted, predicted)
		o.Targets, o.Predicted = append(o.Targets, target+offset), append(o.Predicted, predicted+offset)
	}
	for _, m := range []metric.Metric[metric.Values]{metric.R2(), metric.Pearson(), metric.Spearman(), metric.MSE()} {
		if got, want := value(t, m, o), value(t, m, small); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v with an offset, %v without", m.Name, got, want)
		}
	}
}
