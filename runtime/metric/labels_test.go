package metric_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

func TestLabelsChecks(t *testing.T) {
	right := metric.Labels{Scores: []float32{1, 2}, Targets: []float32{1, 0}, Labels: 2}
	for _, tt := range []struct {
		wrong metric.Labels
		want  string
	}{
		{metric.Labels{Scores: make([]float32, 4), Targets: []float32{0, 1, 1, 2}, Labels: 2}, "item 1: the target of label 1 is 2: 0, 1 or NaN expected"},
		{metric.Labels{Scores: []float32{0, 0, nan, 0}, Targets: make([]float32, 4), Labels: 2}, "item 1: the score of label 0 is NaN"},
		{metric.Labels{Scores: make([]float32, 4), Targets: make([]float32, 2), Labels: 2}, "4 scores and 2 targets: as many expected"},
		{metric.Labels{Scores: make([]float32, 3), Targets: make([]float32, 3), Labels: 2}, "3 targets with 2 labels an item: a multiple expected"},
		{metric.Labels{Scores: make([]float32, 3), Targets: make([]float32, 3)}, "3 targets with 0 labels an item: a multiple expected"},
		{metric.Labels{Scores: make([]float32, 2), Targets: make([]float32, 2), Labels: 2, Threshold: 1.5}, "threshold 1.5: a probability from 0 to 1 expected"},
	} {
		for _, m := range labelMetrics {
			fails(t, m, tt.wrong, right, m.Name+": "+tt.want)
		}
	}
}

func TestLabelsLost(t *testing.T) {
	o := metric.Labels{Loss: 0.5, Scores: make([]float32, 6), Targets: []float32{nan, nan, nan, 1, 0, nan}, Labels: 2}
	if loss, items := o.Lost(); loss != 0.5 || items != 2 {
		t.Errorf("loss %v of %d items, want 0.5 of 2", loss, items)
	}
}

// TestThreshold moves the threshold across the probability of a label, sigmoid(1) = 0.731.
func TestThreshold(t *testing.T) {
	for _, tt := range []struct {
		threshold float32
		kind      metric.ScoreKind
		score     float32
		want      float64
	}{
		{0, metric.Logits, 1, 100}, {0.73, metric.Logits, 1, 100}, {0.732, metric.Logits, 1, 0}, {0, metric.Logits, 0, 0},
		{0, metric.Probabilities, 0.6, 100}, {0, metric.Probabilities, 0.5, 0}, {0.7, metric.Probabilities, 0.6, 0}, {0.2, metric.Probabilities, 0.3, 100},
	} {
		o := metric.Labels{Scores: []float32{tt.score}, Targets: []float32{1}, Labels: 1, Threshold: tt.threshold, Kind: tt.kind}
		if got := value(t, metric.Hamming(), o); got != tt.want {
			t.Errorf("%+v: Hamming score %v", tt, got)
		}
	}
}

// TestExactMatch asserts that unknown labels neither match nor miss.
func TestExactMatch(t *testing.T) {
	o := metric.Labels{Labels: 2, Scores: []float32{1, -1, 1, -1, 1, -1}, Targets: []float32{1, nan, nan, nan, 1, 1}}
	if got := value(t, metric.ExactMatch(), o); got != 50 {
		t.Errorf("exact match %v, want 50: one of two items", got)
	}
}
