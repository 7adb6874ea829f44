package metric

// Accuracy returns the percentage of items whose target has the largest score. If several classes
// have the largest score, the one with the lowest number is predicted.
func Accuracy() Metric[Classes] {
	return newMetric("accuracy", "%", 1, rule[Classes, *counts]{
		empty: newCounts(2),
		add:   addAccuracy,
		value: (*counts).percent,
	})
}

func addAccuracy(c *counts, o Classes) error {
	return o.each(func(target int, row []float32) error {
		c.hit(o.predicted(row) == target)
		return nil
	})
}
