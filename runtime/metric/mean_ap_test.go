package metric_test

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

// square returns a box of 10 × 10.
func square(left float32, score float32) metric.Box {
	return metric.Box{Left: left, Right: left + 10, Bottom: 10, Score: score}
}

// onePicture returns an output of one item.
func onePicture(targets []metric.Box, predicted ...metric.Box) metric.Boxes {
	return metric.Boxes{Predicted: [][]metric.Box{predicted}, Targets: [][]metric.Box{targets}}
}

func TestMeanAPByHand(t *testing.T) {
	two := []metric.Box{square(0, 0), square(100, 0)}
	crowd := square(200, 0)
	crowd.Crowd, crowd.Right = true, 300
	other := square(0, 1)
	other.Class = 1
	half := 51. / 101 // the recalls 0, 0.01, … 0.5
	for _, tt := range []struct {
		name string
		o    metric.Boxes
		want float64
	}{
		{"all found", onePicture(two, square(0, 1), square(100, 2)), 1},
		{"half found", onePicture(two, square(0, 1)), half},
		{"overlap of 5/15", onePicture(two, square(5, 1)), 0},
		{"overlap of 50/100, the threshold", onePicture(two, metric.Box{Right: 10, Bottom: 5, Score: 1}), half},
		{"overlap of 7/13", onePicture(two, square(3, 1)), half},
		// Precision is 1 up to half the recall, then 2/3.
		{"a wrong one between", onePicture(two, square(0, 3), square(50, 2), square(100, 1)), half + 50./101*2/3},
		{"a wrong one first", onePicture(two, square(50, 3), square(0, 2), square(100, 1)), 2. / 3},
		{"found twice", onePicture(two[:1], square(0, 2), square(1, 1)), 1},
		{"found twice, then another", onePicture(two, square(0, 3), square(1, 2), square(100, 1)), half + 50./101*2/3},
		// The better one takes the target.
		{"the worse first in the list", onePicture(two[:1], square(3, 1), square(0, 2)), 1},
		{"equal scores count at once", onePicture(two[:1], square(0, 1), square(50, 1)), 0.5},
		{"inside of a crowd", onePicture(append([]metric.Box{crowd}, two...), square(210, 9), square(220, 8), square(0, 3), square(100, 2)), 1},
		{"a class without targets does not count", onePicture(two[:1], square(0, 1), other), 1},
		{"a class that is not found", onePicture([]metric.Box{square(0, 0), other}, square(0, 1)), 0.5},
		{"nothing predicted", onePicture(two), 0},
		{"no targets", onePicture(nil, square(0, 1)), math.NaN()},
		{"a crowd alone", onePicture([]metric.Box{crowd}, square(210, 1)), math.NaN()},
	} {
		if got := value(t, metric.MeanAP(0.5), tt.o); !same(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestMeanAPCountsOneHundred asserts that at most 100 predictions of a class count.
func TestMeanAPCountsOneHundred(t *testing.T) {
	list := slices.Repeat([]metric.Box{square(50, 2)}, 100)
	o := onePicture([]metric.Box{square(0, 0)}, append(list[:99:99], square(0, 1))...)
	if got := value(t, metric.MeanAP(0.5), o); !same(got, 0.01) {
		t.Errorf("the last of 100: %v, want 0.01", got)
	}
	o = onePicture([]metric.Box{square(0, 0)}, append(list, square(0, 1))...)
	if got := value(t, metric.MeanAP(0.5), o); got != 0 {
		t.Errorf("the last of 101: %v, want 0", got)
	}
}

func TestMeanAPThresholds(t *testing.T) {
	o := onePicture([]metric.Box{square(0, 0)}, square(1, 1)) // overlap of 9/11 = 0.82
	for _, tt := range []struct {
		m    metric.Metric[metric.Boxes]
		name string
		want float64
	}{
		{metric.MeanAP(), "mAP@[0.5:0.95]", 0.7}, {metric.MeanAP(0.75), "mAP@0.75", 1}, {metric.MeanAP(0.5, 0.9), "mAP@0.5 0.9", 0.5},
	} {
		if got := value(t, tt.m, o); !same(got, tt.want) || tt.m.Name != tt.name {
			t.Errorf("%s: %v, want %v", tt.m.Name, got, tt.want)
		}
	}
	refuses(t, metric.MeanAP(0), o, "mAP@0: threshold 0: above 0 and at most 1 expected")
	refuses(t, metric.MeanAP(1.5), o, "mAP@1.5: threshold 1.5: above 0 and at most 1 expected")
	c := metric.MeanAP(slices.Repeat([]float64{0.5}, 64)...).New()
	if c.Add(o); metric.Err(c) == nil {
		t.Error("64 thresholds give no error")
	}
}

func TestBoxesChecks(t *testing.T) {
	right := onePicture([]metric.Box{square(0, 0)}, square(0, 1))
	negative, turned, unknown, endless := square(0, 0), square(0, 0), square(0, nan), square(0, 0)
	negative.Class, turned.Right, endless.Right = -1, -5, inf
	for _, tt := range []struct {
		wrong metric.Boxes
		want  string
	}{
		{metric.Boxes{Predicted: make([][]metric.Box, 2), Targets: make([][]metric.Box, 1)}, "predictions for 2 items and targets for 1: as many expected"},
		{onePicture([]metric.Box{square(0, 0), negative}), "item 0: target box 1: class -1: a number from 0 expected"},
		{onePicture(nil, turned), "item 0: predicted box 0: from (0, 0) to (-5, 10): not a rectangle"},
		{onePicture(nil, unknown), "item 0: predicted box 0: the score is NaN"},
		{onePicture(nil, endless), "item 0: predicted box 0: from (0, 0) to (+Inf, 10): not a rectangle"},
	} {
		for _, m := range boxMetrics {
			fails(t, m, tt.wrong, right, m.Name+": "+tt.want)
		}
	}
	if _, items := right.Lost(); items != 1 {
		t.Errorf("%d items", items)
	}
}
