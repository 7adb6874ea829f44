package metric

import "math"

// Pearson returns Pearson's correlation of predictions and targets, from -1 to 1. If an item has
// several values, it is the mean of the correlations of each of them. It is NaN if for one of them
// all predictions or all targets are equal.
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
