package metric

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

const (
	// chrFOrder is the length of the longest n-grams of characters that chrF compares.
	chrFOrder = 6
	// chrFBeta is the weight of recall, relative to precision, in the F-score.
	chrFBeta     = 2
	mostChrWords = 9
)

// ChrF returns the score chrF2 of translations, from 0 to 100. All items are scored together. The score is the
// F-score of sequences of one to six characters, without white space (Popović: chrF, character n-gram F-score for
// automatic MT evaluation, 2015). Sequences of one to wordOrder words count as well. The usual wordOrder is 0. With
// 2, the score is known as chrF++ (Popović: chrF++, words helping character n-grams, 2017).
//
// The definition follows the defaults of sacreBLEU. Precision and recall are averaged over the lengths of sequences
// that occur in both predictions and references. The best one of several references counts. A counter reports an
// error if wordOrder is not from 0 to 9.
func ChrF(wordOrder int) Metric[Texts] {
	orders := chrFOrder + min(max(wordOrder, 0), mostChrWords)
	name := "chrF2" + strings.Repeat("+", orders-chrFOrder)
	return newMetric(name, "", 1, rule[Texts, *counts]{
		empty: newCounts(3*orders + 1), // the last one counts items
		add: func(c *counts, o Texts) error {
			if wordOrder < 0 || wordOrder > mostChrWords {
				return fmt.Errorf("sequences of up to %d words: 0 to %d expected", wordOrder, mostChrWords)
			}
			return addChrF(c, o, orders)
		},
		value: func(c *counts) float64 {
			if (*c)[3*orders] == 0 {
				return math.NaN()
			}
			return chrF((*c)[:3*orders])
		},
	})
}

func addChrF(c *counts, o Texts, orders int) error {
	return o.each(func(predicted string, references []string) {
		grams := chrFGrams(predicted, orders)
		var best []int64
		bestScore := -1.0
		for _, text := range references {
			ref := chrFGrams(text, orders)
			var stats []int64
			for n := range grams {
				all := total(grams[n])
				if len(ref[n]) == 0 {
					all = 0 // sequences without a reference do not count
				}
				stats = append(stats, int64(all), int64(total(ref[n])), int64(overlap(grams[n], ref[n])))
			}
			if score := chrF(stats); score > bestScore {
				best, bestScore = stats, score
			}
		}
		for i, n := range best {
			(*c)[i] += n
		}
		(*c)[3*orders]++
	})
}

// chrF returns the score chrF2, from 0 to 100. stats holds three numbers for each order of n-grams:
// the number of n-grams in the predictions, in the references, and in both. Orders for which the
// predictions or the references have no n-grams are left out.
func chrF(stats []int64) float64 {
	precision, recall, n := 0.0, 0.0, 0.0
	for ; len(stats) > 0; stats = stats[3:] {
		if stats[0] > 0 && stats[1] > 0 {
			precision += float64(stats[2]) / float64(stats[0])
			recall += float64(stats[2]) / float64(stats[1])
			n++
		}
	}
	precision, recall = ratio(precision, n), ratio(recall, n)
	return 100 * ratio((1+chrFBeta*chrFBeta)*precision*recall, chrFBeta*chrFBeta*precision+recall)
}

// chrFGrams counts the n-grams of a text. It returns a map for each n: first for n-grams of characters, n = 1 …
// chrFOrder, and then for n-grams of words, n = 1 … orders − chrFOrder.
func chrFGrams(text string, orders int) []map[string]int {
	parts := words(text)
	var list []map[string]int
	characters := []rune(strings.Join(parts, ""))
	for n := 1; n <= chrFOrder; n++ {
		grams := map[string]int{}
		for i := range len(characters) - n + 1 {
			grams[string(characters[i:i+n])]++
		}
		list = append(list, grams)
	}
	if orders > chrFOrder {
		split := chrFWords(parts)
		for n := 1; n <= orders-chrFOrder; n++ {
			list = append(list, nGrams(split, n))
		}
	}
	return list
}

// chrFWords splits one ASCII punctuation character off each word of several characters: the last
// character if it is punctuation, otherwise the first character if that is punctuation.
func chrFWords(parts []string) []string {
	const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	var list []string
	for _, w := range parts {
		last := len(w) - 1
		switch {
		case utf8.RuneCountInString(w) == 1:
			list = append(list, w)
		case strings.IndexByte(punctuation, w[last]) >= 0:
			list = append(list, w[:last], w[last:])
		case strings.IndexByte(punctuation, w[0]) >= 0:
			list = append(list, w[:1], w[1:])
		default:
			list = append(list, w)
		}
	}
	return list
}
