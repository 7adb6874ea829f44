package metric

// ExactMatch returns the percentage of items whose known labels are all predicted right. Items
// without known labels do not count.
func ExactMatch() Metric[Labels] {
	return newMetric("exact match", "%", 1, rule[Labels, *counts]{
		empty: newCounts(2),
		add: func(c *counts, o Labels) error {
			return o.each(func(scores, targets []float32) error {
				wrong := false
				for k, t := range targets {
					wrong = wrong || t == t && o.Kind.above(scores[k], o.Threshold) != (t == 1)
				}
				if known(targets, len(targets)) > 0 {
					c.hit(!wrong)
				}
				return nil
			})
		},
		value: (*counts).percent,
	})
}
