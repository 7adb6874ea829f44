package metric

import "math"

// MAE returns the mean absolute error of all values.
func MAE() Metric[Values] {
	return meanError("MAE", "", func(predicted, target float64) float64 {
		return math.Abs(predicted - target)
	}, (*mean).value)
}
