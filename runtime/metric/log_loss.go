package metric

import "math"

// leastProbability is the smallest probability of which a logarithm is taken; smaller ones are
// raised to it. It is 2⁻²³, the machine epsilon of float32.
const leastProbability = 0x1p-23

// LogLoss returns the mean negative logarithm of the target's probability, in nats. If outputs are
// probabilities, a probability below 2⁻²³ counts as 2⁻²³, because a float32 of 0 may be a small
// probability that was rounded. If outputs are logits, there is no such bound.
func LogLoss() Metric[Classes] {
	return newMetric("log loss", "", -1, rule[Classes, *mean]{
		empty: newMean,
		add:   addLogLoss,
		value: (*mean).value,
	})
}

func addLogLoss(m *mean, o Classes) error {
	return o.each(func(target int, row []float32) error {
		m.add(o.Kind.surprise(row, target))
		return nil
	})
}

// surprise returns the negative natural logarithm of the probability of a class.
func (k ScoreKind) surprise(row []float32, class int) float64 {
	if k == Probabilities {
		p := float64(row[0])
		if len(row) > 1 {
			p = float64(row[class])
		} else if class == 0 {
			p = 1 - p
		}
		return -math.Log(max(p, leastProbability))
	}
	if len(row) == 1 {
		s := float64(row[0])
		if class == 1 {
			s = -s
		}
		return max(s, 0) + math.Log1p(math.Exp(-math.Abs(s)))
	}
	top := float64(largest(row))
	sum := 0.0
	for _, s := range row {
		sum += shifted(float64(s), top)
	}
	if own := float64(row[class]); own != top {
		return math.Log(sum) + top - own
	}
	return math.Log(sum)
}
