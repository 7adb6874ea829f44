package metric_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

// fifty has 50 items: targets 0 are predicted as 0 20 times and as 1 5 times, targets 1 as 0 10 times
// and as 1 15 times.
func fifty() metric.Classes {
	var o metric.Classes
	for _, c := range []struct {
		n                 int
		target, predicted int64
	}{{20, 0, 0}, {5, 0, 1}, {10, 1, 0}, {15, 1, 1}} {
		for range c.n {
			o.Targets = append(o.Targets, c.target)
			o.Scores = append(o.Scores, float32(1-c.predicted), float32(c.predicted))
		}
	}
	return o
}

// TestAgreement computes by hand. The agreement is 35/50 = 0.7, that by chance (30·25 + 20·25)/50² =
// 0.5, so kappa is 0.2/0.5. MCC is (20·15 − 5·10)/√(30·20·25·25).
func TestAgreement(t *testing.T) {
	check(t,
		example[metric.Classes]{metric.Kappa(), fifty(), 0.4},
		example[metric.Classes]{metric.MCC(), fifty(), 0.408248290463863},
		example[metric.Classes]{metric.Kappa(), metric.Classes{Scores: []float32{1, 0, 0, 1}, Targets: []int64{0, 1}}, 1},
		example[metric.Classes]{metric.MCC(), metric.Classes{Scores: []float32{1, 0, 0, 1}, Targets: []int64{1, 0}}, -1},
	)
}
