package metric

import (
	"fmt"
	"slices"
)

// Classes is an output of a classifier: each item has one class.
type Classes struct {
	Loss float32 // mean loss of the items that are not ignored
	// Scores are the scores of the classes, of shape [items, classes]. If an item has one score,
	// there are two classes, 0 and 1, and it is the score of class 1.
	Scores  []float32
	Targets []int64   // right classes of the items, from 0
	Ignore  []int64   // items whose target is one of these are padding
	Kind    ScoreKind // of Scores; Logits by default
}

// Lost returns the loss and the number of items that are not ignored.
func (c Classes) Lost() (float64, int) { return float64(c.Loss), unignored(c.Targets, c.Ignore) }

func unignored(targets, ignore []int64) int {
	n := 0
	for _, t := range targets {
		if !slices.Contains(ignore, t) {
			n++
		}
	}
	return n
}

// classes returns the number of classes, or 0 if there are no items. A single score per item stands
// for two classes. It returns an error if the number of scores is not a multiple of the number of
// items.
func (c Classes) classes() (int, error) {
	n := len(c.Targets)
	switch {
	case n == 0 && len(c.Scores) == 0:
		return 0, nil
	case n == 0 || len(c.Scores) == 0 || len(c.Scores)%n != 0:
		return 0, fmt.Errorf("%d scores and %d targets: the same number of scores for each target expected", len(c.Scores), n)
	}
	return max(2, len(c.Scores)/n), nil
}

// each calls f for each item that is not ignored, with its target and its row of scores. It returns
// the error of f, or an error if a target is out of range or a score is not valid.
func (c Classes) each(f func(target int, row []float32) error) error {
	k, err := c.classes()
	if err != nil || k == 0 {
		return err
	}
	width := len(c.Scores) / len(c.Targets)
	for i, t := range c.Targets {
		if slices.Contains(c.Ignore, t) {
			continue
		}
		if t < 0 || t >= int64(k) {
			return fmt.Errorf("item %d: target %d is not a class from 0 to %d", i, t, k-1)
		}
		row := c.Scores[i*width : (i+1)*width]
		if err := c.Kind.checkScores(row, i, "class"); err != nil {
			return err
		}
		if err := f(int(t), row); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}

// predicted returns the class with the largest score, of a tie the first one. If the row is a
// single score, the score decides between the classes 0 and 1.
func (c Classes) predicted(row []float32) int {
	if len(row) > 1 {
		return argmax(row)
	}
	if c.Kind.above(row[0], 0) {
		return 1
	}
	return 0
}
