package metric

import (
	"fmt"
	"slices"
)

// Masks is an output of a segmentation: each pixel of an item has one class.
type Masks struct {
	Loss float32 // mean loss of the items
	// Scores are the scores of the classes, of shape [items, classes, Pixels]. If a pixel has one
	// score, there are two classes, 0 and 1, and it is the score of class 1.
	Scores  []float32
	Targets []int64   // right classes of the pixels, from 0, of shape [items, Pixels]
	Pixels  int       // pixels of an item: height times width
	Ignore  []int64   // pixels whose target is one of these do not count
	Kind    ScoreKind // of Scores; Logits by default
}

// Lost returns the loss and the number of items that have a pixel which is not ignored.
func (m Masks) Lost() (float64, int) {
	items := 0
	for from := 0; m.Pixels > 0 && from+m.Pixels <= len(m.Targets); from += m.Pixels {
		if unignored(m.Targets[from:from+m.Pixels], m.Ignore) > 0 {
			items++
		}
	}
	return float64(m.Loss), items
}

// classes returns the number of classes, or 0 if there are no items. A single score per pixel
// stands for two classes. It returns an error if the lengths do not fit.
func (m Masks) classes() (int, error) {
	n := len(m.Targets)
	switch {
	case n == 0 && len(m.Scores) == 0:
		return 0, nil
	case m.Pixels < 1 || n%m.Pixels != 0:
		return 0, fmt.Errorf("%d targets with %d pixels an item: a multiple expected", n, m.Pixels)
	case n == 0 || len(m.Scores) == 0 || len(m.Scores)%n != 0:
		return 0, fmt.Errorf("%d scores and %d targets: the same number of scores for each target expected", len(m.Scores), n)
	}
	return max(2, len(m.Scores)/n), nil
}

// addMasks adds the pixels of an output.
func (c *classCounts) addMasks(o Masks) error {
	k, err := o.classes()
	if err != nil || k == 0 {
		return err
	}
	if err := c.fit(k); err != nil {
		return err
	}
	width := len(o.Scores) / len(o.Targets)
	row := make([]float32, width)
	one := Classes{Kind: o.Kind}
	for i, t := range o.Targets {
		if slices.Contains(o.Ignore, t) {
			continue
		}
		item, pixel := i/o.Pixels, i%o.Pixels
		if t < 0 || t >= int64(k) {
			return fmt.Errorf("item %d: target %d of pixel %d is not a class from 0 to %d", item, t, pixel, k-1)
		}
		for j := range row {
			row[j] = o.Scores[(item*width+j)*o.Pixels+pixel]
		}
		if err := o.Kind.checkScores(row, item, "class"); err != nil {
			return err
		}
		c.item(one.predicted(row), int(t))
	}
	return nil
}
