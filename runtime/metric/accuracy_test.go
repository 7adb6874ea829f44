package metric_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

func TestAccuracy(t *testing.T) {
	check(t,
		example[metric.Classes]{metric.Accuracy(), metric.Classes{Scores: []float32{1, 2, 2, 1, 0, 5}, Targets: []int64{1, 1, 1}}, 200. / 3},
		// Of equal scores, the first class is predicted.
		example[metric.Classes]{metric.Accuracy(), metric.Classes{Scores: []float32{1, 1, 1, 1}, Targets: []int64{0, 1}}, 50},
		example[metric.Classes]{metric.Accuracy(), metric.Classes{Scores: []float32{-inf, -inf, inf, 1}, Targets: []int64{0, 0}}, 100},
	)
}
