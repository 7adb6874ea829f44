package metric

import (
	"fmt"
	"strings"
)

// ROUGE returns the mean F1 of the items, from 0 to 1. The F1 of an item counts the sequences of n words that its
// prediction and its reference have in common (Lin: ROUGE, a package for automatic evaluation of summaries, 2004).
// An n of 1 or 2 is usual, known as ROUGE-1 and ROUGE-2. As in Google's rouge-score, words consist of the letters a
// to z and digits, in lower case, and are not stemmed. If an item has several references, the best one counts. A
// counter reports an error if n is below 1.
func ROUGE(n int) Metric[Texts] {
	return rouge(fmt.Sprintf("ROUGE-%d", n), func(predicted, reference []string) float64 {
		a, b := nGrams(predicted, n), nGrams(reference, n)
		return f1(overlap(a, b), total(a), total(b))
	}, func() error {
		if n < 1 {
			return fmt.Errorf("sequences of %d words: at least 1 expected", n)
		}
		return nil
	})
}

// ROUGEL returns the mean F1 of the items, from 0 to 1. The F1 of an item is computed from the longest common
// subsequence of the words of its prediction and its reference. Line breaks do not matter. [ROUGE] defines words.
func ROUGEL() Metric[Texts] {
	return rouge("ROUGE-L", func(predicted, reference []string) float64 {
		return f1(commonSubsequence(predicted, reference), len(predicted), len(reference))
	}, func() error { return nil })
}

// rouge returns a metric that is the mean of the items' scores. If an item has several references, the one with
// the best score counts. Counters report the error of `check`.
func rouge(name string, score func(predicted, reference []string) float64, check func() error) Metric[Texts] {
	return newMetric(name, "", 1, rule[Texts, *mean]{
		empty: newMean,
		add: func(m *mean, o Texts) error {
			if err := check(); err != nil {
				return err
			}
			return o.each(func(predicted string, references []string) {
				tokens, best := rougeTokens(predicted), 0.0
				for _, text := range references {
					best = max(best, score(tokens, rougeTokens(text)))
				}
				m.add(best)
			})
		},
		value: (*mean).value,
	})
}

// f1 returns the harmonic mean of the precision matches/predicted and the recall matches/reference.
// It is 0 if there are no matches.
func f1(matches, predicted, reference int) float64 {
	return ratio(2*float64(matches), float64(predicted+reference))
}

// rougeTokens returns the runs of ASCII letters and digits of a text in lower case. The capital
// dotted I (U+0130) becomes i and a combining dot, which separates words.
func rougeTokens(text string) []string {
	text = strings.ToLower(strings.ReplaceAll(text, "\u0130", "i\u0307"))
	return strings.FieldsFunc(text, func(c rune) bool { return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9') })
}

// commonSubsequence returns the length of the longest common subsequence of a and b.
func commonSubsequence(a, b []string) int {
	row := make([]int, len(b)+1) // lengths for prefixes of b and the part of a that was seen
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}
