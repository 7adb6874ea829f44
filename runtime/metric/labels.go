package metric

import "fmt"

// Labels is an output of a classifier of several labels: each item has any number of them.
type Labels struct {
	Loss    float32   // mean loss of the items with a known target
	Scores  []float32 // of shape [items, Labels]
	Targets []float32 // of shape [items, Labels]: 1 if the item has the label, 0 if not, NaN if unknown
	Labels  int       // number of labels
	// Threshold is the probability above which an item is predicted to have a label. 0 means 0.5.
	Threshold float32
	Kind      ScoreKind // of Scores; Logits by default
}

// Lost returns the loss and the number of items with a known target.
func (l Labels) Lost() (float64, int) { return float64(l.Loss), known(l.Targets, l.Labels) }

// known returns the number of items that have a target other than NaN. Each item has width targets.
func known(targets []float32, width int) int {
	n := 0
	for width > 0 && len(targets) > 0 {
		k := min(width, len(targets))
		for _, t := range targets[:k] {
			if t == t {
				n++
				break
			}
		}
		targets = targets[k:]
	}
	return n
}

// each calls f for each item with its scores and targets. It returns the error of f. It also
// returns an error if the lengths do not fit, or if the threshold, a score or a target is not
// valid.
func (l Labels) each(f func(scores, targets []float32) error) error {
	switch {
	case len(l.Targets) != len(l.Scores):
		return fmt.Errorf("%d scores and %d targets: as many expected", len(l.Scores), len(l.Targets))
	case len(l.Targets) == 0:
		return nil
	case l.Labels < 1 || len(l.Targets)%l.Labels != 0:
		return fmt.Errorf("%d targets with %d labels an item: a multiple expected", len(l.Targets), l.Labels)
	case !(l.Threshold >= 0 && l.Threshold < 1):
		return fmt.Errorf("threshold %g: a probability from 0 to 1 expected", l.Threshold)
	}
	for i := range len(l.Targets) / l.Labels {
		from, to := i*l.Labels, (i+1)*l.Labels
		scores, targets := l.Scores[from:to], l.Targets[from:to]
		for j, t := range targets {
			if t == t && t != 0 && t != 1 {
				return fmt.Errorf("item %d: the target of label %d is %g: 0, 1 or NaN expected", i, j, t)
			}
		}
		if err := l.Kind.checkScores(scores, i, "label"); err != nil {
			return err
		}
		if err := f(scores, targets); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}
