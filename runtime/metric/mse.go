package metric

import "math"

// MSE returns the mean squared error of all values.
func MSE() Metric[Values] { return meanError("MSE", "", squaredError, (*mean).value) }

// RMSE returns the square root of the mean squared error of all values.
func RMSE() Metric[Values] {
	return meanError("RMSE", "", squaredError, func(m *mean) float64 { return math.Sqrt(m.value()) })
}

func squaredError(predicted, target float64) float64 {
	d := predicted - target
	return d * d
}

// meanError returns a metric whose value is value(m), where m is the mean of f over all values.
// Smaller values are better.
func meanError(name, unit string, f func(predicted, target float64) float64, value func(*mean) float64) Metric[Values] {
	return newMetric(name, unit, -1, rule[Values, *mean]{
		empty: newMean,
		add: func(m *mean, o Values) error {
			return o.each(func(_ int, predicted, target float64) { m.add(f(predicted, target)) })
		},
		value: value,
	})
}
