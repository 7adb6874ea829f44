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

const roundedProbability = 1 + 1e-5

// checkScores returns an error if the kind of scores is unknown or a score is NaN. It also returns
// an error if a probability is below 0 or above roundedProbability. In errors, item is the index of
// the item, and label says what a score belongs to, such as "class".
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

// above reports whether a score means a probability above `probability`. A `probability` of 0
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

// softmax writes the probabilities of a row of scores to dst. For infinite logits it writes the
// limits of the probabilities. If the row is a single score, which stands for two classes, it
// writes the probabilities of classes 0 and 1.
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

// shifted returns exp(s-top). It is 1 if both are the same infinity.
func shifted(s, top float64) float64 {
	if s == top {
		return 1
	}
	return math.Exp(s - top)
}

func largest(row []float32) float32 { return row[argmax(row)] }

// argmax returns the index of the largest score of a row, the first one of a tie.
func argmax(row []float32) int {
	best := 0
	for i, s := range row {
		if s > row[best] {
			best = i
		}
	}
	return best
}
