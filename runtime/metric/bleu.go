package metric

import "math"

const bleuOrder = 4

// BLEU returns the BLEU score of translations, from 0 to 100. All items are scored together
// (Papineni and others: BLEU, a method for automatic evaluation of machine translation, 2002). It
// is the geometric mean of the precisions of sequences of one to four words, times a penalty for
// short predictions.
//
// Tokens, references and smoothing follow the defaults of sacreBLEU (Post: A call for clarity in
// reporting BLEU scores, 2018). Case counts. The tokenizer is 13a. The smoothing is "exp": the
// first sequence length without a match counts as half a match, and each further length without a
// match counts half as much as the previous one. The score is 0 if no sequence of any length
// matches, or if no prediction has four words. A sequence may match any reference. The penalty
// depends on the reference whose length is closest to the length of the prediction. If two are
// equally close, the shorter one counts.
func BLEU() Metric[Texts] {
	return newMetric("BLEU", "", 1, rule[Texts, *counts]{
		empty: newCounts(2 + 2*bleuOrder), // words of predictions and references; matches and sequences of each length
		add:   addBLEU,
		value: bleu,
	})
}

func addBLEU(c *counts, o Texts) error {
	return o.each(func(predicted string, references []string) {
		tokens := bleuTokens(predicted)
		closest := -1
		var refs [][]string
		for _, text := range references {
			ref := bleuTokens(text)
			if d, best := distance(len(ref), len(tokens)), distance(closest, len(tokens)); closest < 0 || d < best || d == best && len(ref) < closest {
				closest = len(ref)
			}
			refs = append(refs, ref)
		}
		(*c)[0] += int64(len(tokens))
		(*c)[1] += int64(closest)
		for n := 1; n <= bleuOrder; n++ {
			most := map[string]int{} // in one reference
			for _, ref := range refs {
				for gram, k := range nGrams(ref, n) {
					most[gram] = max(most[gram], k)
				}
			}
			grams := nGrams(tokens, n)
			(*c)[2*n] += int64(overlap(grams, most))
			(*c)[2*n+1] += int64(total(grams))
		}
	})
}

func distance(a, b int) int { return max(a-b, b-a) }

func bleu(c *counts) float64 {
	predicted, reference := float64((*c)[0]), float64((*c)[1])
	if reference == 0 && predicted == 0 {
		return math.NaN()
	}
	matches := int64(0)
	for n := 1; n <= bleuOrder; n++ {
		matches += (*c)[2*n]
	}
	if matches == 0 {
		return 0
	}
	halved, sum := 1.0, 0.0
	for n := 1; n <= bleuOrder; n++ {
		right, all := float64((*c)[2*n]), float64((*c)[2*n+1])
		if all == 0 {
			return 0
		}
		if right == 0 {
			halved /= 2
			right = halved
		}
		sum += math.Log(right / all)
	}
	penalty := min(0, 1-reference/predicted)
	return 100 * math.Exp(sum/bleuOrder+penalty)
}
