package metric

import (
	"fmt"
	"math"
)

// ScoreKind is the kind of scores.
type ScoreKind int

const (
	// Logits are scores before softmax or sigmoid. Logarithms of probabilities are logits too.
	Logits ScoreKind = iota
	// Probabilities are from 0 to 1.
	Probabilities
)

// roundedProbability is the largest probability that passes for 1.
const roundedProbability = 1 + 1e-5

// checkScores returns an error if the kind of scores is unknown, if a score is NaN, or if it should
// be a probability and is not. label names the owner of a score, such as "class".
func (k ScoreKind) checkScores(scores []float32, item int, label string) error {
	if k != Logits && k != Probabilities {
		return fmt.Errorf("scores are of kind %d: Logits or Probabilities expected", int(k))
	}
	for i, s := range scores {
		if s != s {
			return fmt.Errorf("item %d: the score of %s %d is NaN", item, label, i)
		}
		if k == Probabilities && !(s >= 0 && s <= roundedProbability) {
			return fmt.Errorf("item %d: the score of %s %d is %g, which is not a probability", item, label, i, s)
		}
	}
	return nil
}

// above reports whether the score of a binary decision is above a probability. A probability of 0
// stands for 0.5.
func (k ScoreKind) above(score, probability float32) bool {
	switch {
	case k == Logits && probability == 0:
		return score > 0
	case probability == 0:
		return score > 0.5
	case k == Logits:
		p := float64(probability)
		return float64(score) > math.Log(p/(1-p))
	}
	return score > probability
}

// softmax writes the probabilities of a row of scores to dst. Infinite logits give the limit. A
// single score is a binary decision and gives two probabilities.
func (k ScoreKind) softmax(dst []float64, row []float32) {
	if len(row) == 1 {
		p := float64(row[0])
		if k == Logits {
			p = 1 / (1 + math.Exp(-p))
		}
		dst[0], dst[1] = 1-p, p
		return
	}
	if k == Probabilities {
		for i, s := range row {
			dst[i] = float64(s)
		}
		return
	}
	top := float64(largest(row))
	sum := 0.0
	for i, s := range row {
		dst[i] = shifted(float64(s), top)
		sum += dst[i]
	}
	for i := range row {
		dst[i] /= sum
	}
}

// shifted returns exp(s-top), where infinity minus itself is 0.
func shifted(s, top float64) float64 {
	if s == top {
		return 1
	}
	return math.Exp(s - top)
}

// largest returns the largest score of a row.
func largest(row []float32) float32 { return row[argmax(row)] }

// argmax returns the index of the largest score of a row, the first of equal ones.
func argmax(row []float32) int {
	best := 0
	for i, s := range row {
		if s > row[best] {
			best = i
		}
	}
	return best
}
