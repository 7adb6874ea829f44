package metric

import "math"

// Perplexity returns the exponential of the mean negative logarithm of the tokens' probabilities; see
// [LogLoss]. The mean is over all tokens, not over sequences. If an output has no scores, its loss is
// used as the mean negative logarithm. Leave out the scores to save time if the vocabulary is large.
func Perplexity() Metric[Tokens] {
	return newMetric("perplexity", "", -1, rule[Tokens, *mean]{
		empty: newMean,
		add: func(m *mean, o Tokens) error {
			if len(o.Scores) == 0 {
				loss, n := o.Lost()
				m.addMean(loss, n)
				return nil
			}
			return addLogLoss(m, Classes(o))
		},
		value: func(m *mean) float64 { return math.Exp(m.value()) },
	})
}
