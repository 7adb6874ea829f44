package metric_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

// TestFBeta computes F2 of class 1 by hand: precision 1/2, recall 1, 5·½·1 / (4·½+1) = 5/6.
func TestFBeta(t *testing.T) {
	o := metric.Classes{Scores: []float32{1, 0, 0, 1, 0, 1}, Targets: []int64{0, 0, 1}}
	for beta, want := range map[float64]float64{2: 500. / 6, 1: 200. / 3, 0: 50} {
		if got := value(t, metric.FBeta(beta, metric.Class(1)), o); !same(got, want) {
			t.Errorf("F%g: %v, want %v", beta, got, want)
		}
	}
	refuses(t, metric.FBeta(-1, metric.Macro), o, "F-1 (macro): beta is -1: a number from 0 expected")
	refuses(t, metric.LabelFBeta(math.Inf(1), metric.Macro), metric.Labels{}, "F+Inf (macro): beta is +Inf: a number from 0 expected")
}
