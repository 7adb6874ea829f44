package metric

// CER returns the character error rate in percent. It is the number of insertions, deletions and
// substitutions that turn predictions into references, divided by the number of characters of the
// references, over all items together. Characters are Unicode's code points; white space counts. If
// an item has several references, the one with the fewest edits counts; of several such references,
// the first.
func CER() Metric[Texts] {
	return errorRate("CER", func(text string) []rune { return []rune(text) })
}

// WER returns the word error rate in percent. It is [CER] with words, separated by white space,
// instead of characters.
func WER() Metric[Texts] { return errorRate("WER", words) }

// errorRate returns a metric: the number of edits that turn a prediction into its reference, in
// percent of the reference's length. split divides a text into units, such as words, that are
// inserted, deleted or substituted. If an item has several references, the reference with the
// fewest edits counts.
func errorRate[P comparable](name string, split func(string) []P) Metric[Texts] {
	return newMetric(name, "%", -1, rule[Texts, *counts]{
		empty: newCounts(2),
		add: func(c *counts, o Texts) error {
			return o.each(func(predicted string, references []string) {
				parts := split(predicted)
				fewest, length := -1, 0
				for _, text := range references {
					ref := split(text)
					if n := edits(parts, ref); fewest < 0 || n < fewest {
						fewest, length = n, len(ref)
					}
				}
				(*c)[0] += int64(fewest)
				(*c)[1] += int64(length)
			})
		},
		value: (*counts).percent,
	})
}
