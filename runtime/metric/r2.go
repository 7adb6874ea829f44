package metric

import "math"

// R2 returns the coefficient of determination: 1 minus the ratio of the sum of squared errors to
// the sum of squared differences between targets and their mean. If items have several values, each
// value has its own coefficient, and the result is their mean. It is NaN if all targets of a value
// are equal.
func R2() Metric[Values] {
	return newMetric("R²", "", 1, rule[Values, *moments]{
		empty: newMoments,
		add:   (*moments).add,
		value: func(m *moments) float64 { return m.value(moment.r2) },
	})
}

func (m moment) r2() float64 {
	if m.targetSquares == 0 {
		return math.NaN()
	}
	return 1 - m.residuals/m.targetSquares
}
