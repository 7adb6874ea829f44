package metric_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

// TestCalibration computes by hand, with four bins: probabilities 0.75 and 0.625 are in the third,
// right once of twice: |1.375-1| = 0.375. Probability 1 is in the fourth, right: 0. Of three items the
// error is 0.125.
func TestCalibration(t *testing.T) {
	o := metric.Classes{
		Scores:  []float32{0.75, 0.25, 0.375, 0.625, 1, 0},
		Targets: []int64{0, 0, 0},
		Kind:    metric.Probabilities,
	}
	if got := value(t, metric.Calibration(4), o); got != 12.5 {
		t.Errorf("calibration error %v, want 12.5", got)
	}
	// In one bin the mean probability is 2.375/3, and 2/3 are right.
	if got := value(t, metric.Calibration(1), o); !same(got, 12.5) {
		t.Errorf("calibration error %v, want 12.5", got)
	}
	o.Targets = []int64{0, 1, 0}
	if got := value(t, metric.Calibration(1), o); !same(got, 62.5/3) {
		t.Errorf("calibration error %v, want %v", got, 62.5/3)
	}
	for _, bins := range []int{0, -1, 1<<16 + 1} {
		c := metric.Calibration(bins).New()
		if c.Add(o); metric.Err(c) == nil {
			t.Errorf("%d bins give no error", bins)
		}
	}
}
