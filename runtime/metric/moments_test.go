package metric_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

// TestMoments computes by hand: the targets 1 2 3 have the mean 2 and squared differences of 2.
func TestMoments(t *testing.T) {
	mirrored := metric.Values{Predicted: []float32{3, 2, 1}, Targets: []float32{1, 2, 3}}
	shifted := metric.Values{Predicted: []float32{2, 3, 4}, Targets: []float32{1, 2, 3}}
	both := metric.Values{Predicted: []float32{3, 1, 2, 2, 1, 3}, Targets: []float32{1, 1, 2, 2, 3, 3}, Width: 2}
	check(t,
		example[metric.Values]{metric.R2(), mirrored, 1 - 8./2},
		example[metric.Values]{metric.R2(), shifted, 1 - 3./2},
		example[metric.Values]{metric.R2(), both, (-3 + 1) / 2.},
		example[metric.Values]{metric.Pearson(), mirrored, -1},
		example[metric.Values]{metric.Pearson(), shifted, 1},
		example[metric.Values]{metric.Pearson(), both, 0},
		example[metric.Values]{metric.Spearman(), both, 0},
		// Ranks 1 2.5 2.5 4 of predictions and 1 2 3 4 of targets: 4.5/√(4.5·5).
		example[metric.Values]{metric.Spearman(), metric.Values{Predicted: []float32{0, 5, 5, 9}, Targets: []float32{1, 2, 3, 40}}, 0.948683298050514},
		example[metric.Values]{metric.MSE(), mirrored, 8. / 3},
		example[metric.Values]{metric.MAE(), mirrored, 4. / 3},
		example[metric.Values]{metric.MAPE(), mirrored, 100 * (2 + 0 + 2./3) / 3},
		example[metric.Values]{metric.RMSE(), shifted, 1},
	)
}
