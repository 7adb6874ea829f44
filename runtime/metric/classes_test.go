package metric_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

var inf = float32(math.Inf(1))

func TestClassesChecks(t *testing.T) {
	right := metric.Classes{Scores: []float32{1, 2, 3}, Targets: []int64{1}}
	for _, tt := range []struct {
		wrong metric.Classes
		want  string
	}{
		{metric.Classes{Scores: make([]float32, 6), Targets: []int64{0, 3}}, "item 1: target 3 is not a class from 0 to 2"},
		{metric.Classes{Scores: make([]float32, 6), Targets: []int64{0, -1}}, "item 1: target -1 is not a class from 0 to 2"},
		{metric.Classes{Scores: []float32{1, 2, nan}, Targets: []int64{0}}, "item 0: the score of class 2 is NaN"},
		{metric.Classes{Scores: []float32{0, 0.5, 2}, Targets: []int64{0}, Kind: metric.Probabilities}, "item 0: the score of class 2 is 2, which is not a probability"},
		{metric.Classes{Scores: make([]float32, 3), Targets: []int64{0}, Kind: 2}, "scores are of kind 2: Logits or Probabilities expected"},
		{metric.Classes{Scores: make([]float32, 5), Targets: []int64{0, 0}}, "5 scores and 2 targets: the same number of scores for each target expected"},
		{metric.Classes{Scores: make([]float32, 3)}, "3 scores and 0 targets: the same number of scores for each target expected"},
		{metric.Classes{Targets: []int64{0}}, "0 scores and 1 targets: the same number of scores for each target expected"},
	} {
		for _, m := range classMetrics[1:] { // Loss needs no scores
			fails(t, m, tt.wrong, right, m.Name+": "+tt.want)
		}
	}
	for _, m := range []metric.Metric[metric.Classes]{metric.Kappa(), metric.AUROC(), metric.ConfusionMatrix(), metric.F1(metric.Macro)} {
		fails(t, m, metric.Classes{Scores: make([]float32, 4), Targets: []int64{0}}, right, m.Name+": 4 classes, but 3 before")
	}
}

// TestPaddingChangesNothing adds outputs of padding alone and empty outputs. The scores of padding may
// be anything.
func TestPaddingChangesNothing(t *testing.T) {
	o := metric.Classes{Loss: 2, Scores: []float32{1, 2, 3, 3, 1, 2}, Targets: []int64{2, 1}}
	pad := metric.Classes{Loss: nan, Scores: []float32{nan, 2, inf}, Targets: []int64{-100}, Ignore: []int64{-100, 7}}
	for _, m := range classMetrics {
		c := m.New()
		c.Add(pad)
		c.Add(metric.Classes{})
		if !math.IsNaN(c.Value()) || metric.Err(c) != nil {
			t.Errorf("%s: value %v of padding, error %v", m.Name, c.Value(), metric.Err(c))
		}
		c.Add(o)
		want := c.Value()
		c.Add(pad)
		c.Add(metric.Classes{})
		if got := c.Value(); !same(got, want) || metric.Err(c) != nil {
			t.Errorf("%s: value %v after padding, want %v, error %v", m.Name, got, want, metric.Err(c))
		}
	}
}

// TestOneScore asserts that one score for an item means the same as the two of a classifier of two
// classes, one of which is 0.
func TestOneScore(t *testing.T) {
	targets := []int64{1, 0, 1, 1, 0}
	one := metric.Classes{Scores: []float32{2, -1, -0.5, 3, 0}, Targets: targets}
	two := metric.Classes{Scores: []float32{0, 2, 0, -1, 0, -0.5, 0, 3, 0, 0}, Targets: targets}
	shares := metric.Classes{Scores: []float32{0.75, 0.25, 0.375, 0.875, 0.5}, Targets: targets, Kind: metric.Probabilities}
	pairs := metric.Classes{Scores: []float32{0.25, 0.75, 0.75, 0.25, 0.625, 0.375, 0.125, 0.875, 0.5, 0.5}, Targets: targets, Kind: metric.Probabilities}
	for _, m := range classMetrics {
		if a, b := value(t, m, one), value(t, m, two); !same(a, b) {
			t.Errorf("%s: value %v of one logit, %v of two", m.Name, a, b)
		}
		if a, b := value(t, m, shares), value(t, m, pairs); !same(a, b) {
			t.Errorf("%s: value %v of one probability, %v of two", m.Name, a, b)
		}
	}
}

// TestProbabilities asserts that logits mean the same as their softmax.
func TestProbabilities(t *testing.T) {
	o := metric.Classes{Targets: []int64{0, 2, 1, 1}, Scores: []float32{1, 2, 3, 0, -1, 2, 3, 3, 1, -2, 1, 0}}
	p := metric.Classes{Targets: o.Targets, Kind: metric.Probabilities}
	for i := range o.Targets {
		sum := 0.0
		for _, s := range o.Scores[3*i : 3*i+3] {
			sum += math.Exp(float64(s))
		}
		for _, s := range o.Scores[3*i : 3*i+3] {
			p.Scores = append(p.Scores, float32(math.Exp(float64(s))/sum))
		}
	}
	for _, m := range classMetrics {
		if a, b := value(t, m, o), value(t, m, p); math.Abs(a-b) > 1e-5 {
			t.Errorf("%s: value %v of logits, %v of probabilities", m.Name, a, b)
		}
	}
}

func TestClassesLost(t *testing.T) {
	o := metric.Classes{Loss: 0.5, Scores: make([]float32, 6), Targets: []int64{1, 9, 0}, Ignore: []int64{9}}
	if loss, items := o.Lost(); loss != 0.5 || items != 2 {
		t.Errorf("loss %v of %d items", loss, items)
	}
	if _, items := metric.Tokens(o).Lost(); items != 2 {
		t.Errorf("%d tokens", items)
	}
}
