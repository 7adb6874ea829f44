package metric

import "math"

// Kappa returns Cohen's kappa, the agreement of predictions and targets beyond chance. It is 1 if
// all predictions are right, and 0 if they agree with the targets as often as by chance (Cohen: A
// coefficient of agreement for nominal scales, 1960). It is NaN if chance alone gives full
// agreement.
func Kappa() Metric[Classes] {
	return newMetric("kappa", "", 1, rule[Classes, *classCounts]{
		empty: newClassCounts,
		add:   (*classCounts).addClasses,
		value: func(c *classCounts) float64 {
			m := c.marginals()
			chance := m.both / (m.items * m.items)
			if m.items == 0 || chance == 1 {
				return math.NaN()
			}
			return (m.right/m.items - chance) / (1 - chance)
		},
	})
}

type marginals struct {
	items, right     float64
	both             float64 // sum over classes of predictions times targets
	predictedSquares float64
	targetSquares    float64
}

func (c *classCounts) marginals() marginals {
	var m marginals
	for k := range c.classes() {
		r, p, t := c.of(k)
		right, predicted, targets := float64(r), float64(p), float64(t)
		m.items += targets
		m.right += right
		m.both += predicted * targets
		m.predictedSquares += predicted * predicted
		m.targetSquares += targets * targets
	}
	return m
}
