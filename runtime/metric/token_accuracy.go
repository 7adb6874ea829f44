package metric

// TokenAccuracy returns the percentage of tokens that have the largest score.
func TokenAccuracy() Metric[Tokens] {
	return newMetric("token accuracy", "%", 1, rule[Tokens, *counts]{
		empty: newCounts(2),
		add:   func(c *counts, o Tokens) error { return addAccuracy(c, Classes(o)) },
		value: (*counts).percent,
	})
}
