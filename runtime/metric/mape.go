package metric

import "math"

// leastTarget is the smallest magnitude of a target by which an error is divided; smaller ones are
// raised to it. It is 2⁻⁵², the machine epsilon of float64.
const leastTarget = 0x1p-52

// MAPE returns the mean absolute percentage error: the mean of |prediction − target| / |target|, in
// percent. Magnitudes of targets below 2⁻⁵² count as 2⁻⁵², as in scikit-learn.
func MAPE() Metric[Values] {
	return meanError("MAPE", "%", func(predicted, target float64) float64 {
		return 100 * math.Abs(predicted-target) / max(math.Abs(target), leastTarget)
	}, (*mean).value)
}
