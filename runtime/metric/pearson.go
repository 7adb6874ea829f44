package metric

import "math"

// Pearson returns Pearson's correlation of predictions and targets, from -1 to 1. If items have
// several values, each value has its own correlation, and the result is their mean. It is NaN if
// all predictions or all targets of a value are equal.
func Pearson() Metric[Values] {
	return newMetric("Pearson", "", 1, rule[Values, *moments]{
		empty: newMoments,
		add:   (*moments).add,
		value: func(m *moments) float64 { return m.value(moment.correlation) },
	})
}

func (m moment) correlation() float64 {
	spread := math.Sqrt(m.predictedSquares) * math.Sqrt(m.targetSquares)
	if spread == 0 {
		return math.NaN()
	}
	return min(max(m.products/spread, -1), 1)
}
