package metric

import "math"

// leastTarget is the lower bound to which magnitudes of targets are clamped in a denominator: 2⁻⁵²,
// the machine epsilon of float64.
const leastTarget = 0x1p-52

// MAPE returns the mean absolute error in percent of the target. Targets closer to 0 than 2⁻⁵² count
// as 2⁻⁵², as in scikit-learn.
func MAPE() Metric[Values] {
	return meanError("MAPE", "%", func(predicted, target float64) float64 {
		return 100 * math.Abs(predicted-target) / max(math.Abs(target), leastTarget)
	}, (*mean).value)
}
