package metric

import "math"

// MCC returns Matthews' correlation coefficient for any number of classes, from -1 to 1 (Gorodkin:
// Comparing two K-category assignments by a K-category correlation coefficient, 2004). It is 0 if
// all predictions are the same class, or all targets are.
func MCC() Metric[Classes] {
	return newMetric("MCC", "", 1, rule[Classes, *classCounts]{
		empty: newClassCounts,
		add:   (*classCounts).addClasses,
		value: func(c *classCounts) float64 {
			m := c.marginals()
			if m.items == 0 {
				return math.NaN()
			}
			all := m.items * m.items
			spread := math.Sqrt(all-m.predictedSquares) * math.Sqrt(all-m.targetSquares)
			return ratio(m.right*m.items-m.both, spread)
		},
	})
}
