package metric

// Hamming returns the Hamming score: the percentage of the known labels that are predicted right.
// 100 % minus the score is the Hamming loss.
func Hamming() Metric[Labels] {
	return newMetric("Hamming score", "%", 1, rule[Labels, *counts]{
		empty: newCounts(2),
		add: func(c *counts, o Labels) error {
			return o.each(func(scores, targets []float32) error {
				for k, t := range targets {
					if t == t {
						c.hit(o.Kind.above(scores[k], o.Threshold) == (t == 1))
					}
				}
				return nil
			})
		},
		value: (*counts).percent,
	})
}
