package metric_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

// TestMasksByHand has two pictures of two pixels. Predictions 0 1, 1 1; targets 0 0, 1 and padding.
func TestMasksByHand(t *testing.T) {
	o := metric.Masks{
		Scores:  []float32{1, 0, 0, 1, 0, 0, 1, 1},
		Targets: []int64{0, 0, 1, 255},
		Pixels:  2,
		Ignore:  []int64{255},
	}
	for _, tt := range []struct {
		m    metric.Metric[metric.Masks]
		want float64
	}{
		{metric.IoU(metric.Class(0)), 50}, {metric.IoU(metric.Class(1)), 50}, {metric.IoU(metric.Macro), 50},
		{metric.Dice(metric.Class(0)), 200. / 3}, {metric.Dice(metric.Micro), 200. / 3},
	} {
		if got := value(t, tt.m, o); !same(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.m.Name, got, tt.want)
		}
	}
	if _, items := o.Lost(); items != 2 {
		t.Errorf("%d items, want 2", items)
	}
	o.Targets = []int64{0, 0, 255, 255}
	if _, items := o.Lost(); items != 1 {
		t.Errorf("%d items, want 1: the other one is padding", items)
	}
}

func TestMasksChecks(t *testing.T) {
	right := metric.Masks{Scores: make([]float32, 8), Targets: make([]int64, 4), Pixels: 2}
	for _, tt := range []struct {
		wrong metric.Masks
		want  string
	}{
		{metric.Masks{Scores: make([]float32, 8), Targets: []int64{0, 0, 0, 2}, Pixels: 2}, "item 1: target 2 of pixel 1 is not a class from 0 to 1"},
		{metric.Masks{Scores: []float32{0, nan, 0, 0}, Targets: []int64{0, 0}, Pixels: 2}, "item 0: the score of class 0 is NaN"},
		{metric.Masks{Scores: make([]float32, 4), Targets: make([]int64, 4)}, "4 targets with 0 pixels an item: a multiple expected"},
		{metric.Masks{Scores: make([]float32, 3), Targets: make([]int64, 3), Pixels: 2}, "3 targets with 2 pixels an item: a multiple expected"},
		{metric.Masks{Scores: make([]float32, 3), Targets: make([]int64, 2), Pixels: 2}, "3 scores and 2 targets: the same number of scores for each target expected"},
		{metric.Masks{Scores: make([]float32, 6), Targets: make([]int64, 2), Pixels: 2}, "3 classes, but 2 before"},
	} {
		for _, m := range maskMetrics {
			fails(t, m, tt.wrong, right, m.Name+": "+tt.want)
		}
	}
}
