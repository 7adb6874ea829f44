package metric_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

// TestAverages computes by hand. Targets 0 0 1, predictions 0 1 1, and class 2 does not occur.
func TestAverages(t *testing.T) {
	o := metric.Classes{Scores: []float32{1, 0, 0, 0, 1, 0, 0, 1, 0}, Targets: []int64{0, 0, 1}}
	nan := math.NaN()
	for _, tt := range []struct {
		a                    metric.Average
		precision, recall, j float64
	}{
		{metric.Macro, 75, 75, 50},
		{metric.Micro, 200. / 3, 200. / 3, 50},
		{metric.Weighted, 250. / 3, 200. / 3, 50},
		{metric.Class(0), 100, 50, 50},
		{metric.Class(1), 50, 100, 50},
		{metric.Class(2), nan, nan, nan},
	} {
		for _, m := range []struct {
			metric metric.Metric[metric.Classes]
			want   float64
		}{{metric.Precision(tt.a), tt.precision}, {metric.Recall(tt.a), tt.recall}, {metric.Jaccard(tt.a), tt.j}} {
			if got := value(t, m.metric, o); !same(got, m.want) {
				t.Errorf("%s: %v, want %v", m.metric.Name, got, m.want)
			}
		}
	}
}

// TestNoPositives asserts that a class without right predictions counts as 0, and not as missing.
func TestNoPositives(t *testing.T) {
	o := metric.Classes{Scores: []float32{1, 0, 1, 0}, Targets: []int64{0, 1}}
	for _, tt := range []struct {
		m    metric.Metric[metric.Classes]
		want float64
	}{
		{metric.Precision(metric.Class(1)), 0}, {metric.Recall(metric.Class(1)), 0}, {metric.F1(metric.Class(1)), 0},
		{metric.Precision(metric.Macro), 25}, {metric.Recall(metric.Macro), 50}, {metric.MCC(), 0}, {metric.Kappa(), 0},
	} {
		if got := value(t, tt.m, o); !same(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.m.Name, got, tt.want)
		}
	}
	none := metric.Labels{Scores: []float32{-1, 1}, Targets: []float32{0, 0}, Labels: 1}
	for _, tt := range []struct {
		m    metric.Metric[metric.Labels]
		want float64
	}{
		{metric.LabelPrecision(metric.Macro), 0}, {metric.LabelRecall(metric.Micro), 0}, {metric.LabelF1(metric.Weighted), math.NaN()},
		{metric.LabelAUROC(), math.NaN()}, {metric.LabelAUPRC(), math.NaN()},
	} {
		if got := value(t, tt.m, none); !same(got, tt.want) {
			t.Errorf("%s of no positives: %v, want %v", tt.m.Name, got, tt.want)
		}
	}
}

// TestOneClass has predictions and targets of one class only.
func TestOneClass(t *testing.T) {
	o := metric.Classes{Scores: []float32{1, 0, 1, 0}, Targets: []int64{0, 0}}
	nan := math.NaN()
	for _, tt := range []struct {
		m    metric.Metric[metric.Classes]
		want float64
	}{
		{metric.Accuracy(), 100}, {metric.F1(metric.Macro), 100}, {metric.F1(metric.Class(1)), nan}, {metric.Kappa(), nan},
		{metric.MCC(), 0}, {metric.AUROC(), nan}, {metric.AUPRC(), nan},
	} {
		if got := value(t, tt.m, o); !same(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.m.Name, got, tt.want)
		}
	}
}

func TestAverageChecks(t *testing.T) {
	o := metric.Classes{Scores: []float32{1, 2, 3}, Targets: []int64{1}}
	refuses(t, metric.Recall(metric.Class(3)), o, "recall (class 3): class 3 is asked for: the outputs have 3 classes")
	refuses(t, metric.Recall(metric.Class(-1)), o, "recall (invalid average): no such average: Macro, Micro, Weighted or a class from 0 expected")
}
