package metric

import "fmt"

// classCounts holds three counts for each class: its true positives, its predictions, and its
// items. True positives are items of the class that are predicted as the class. The counts of class
// k begin at element 3·k.
type classCounts []int64

func newClassCounts() *classCounts { return new(classCounts) }

func (c *classCounts) classes() int { return len(*c) / 3 }

// of returns the true positives, the predictions and the targets of a class.
func (c *classCounts) of(class int) (right, predicted, targets int64) {
	n := (*c)[3*class:]
	return n[0], n[1], n[2]
}

func (c *classCounts) total() (right, predicted, targets int64) {
	for k := range c.classes() {
		r, p, t := c.of(k)
		right, predicted, targets = right+r, predicted+p, targets+t
	}
	return right, predicted, targets
}

// fit allocates the counts when it is first called, for the number of classes of the first output.
// It returns an error if a later output has another number of classes.
func (c *classCounts) fit(classes int) error {
	if len(*c) == 0 {
		*c = make(classCounts, 3*classes)
	}
	return sameClasses(classes, c.classes())
}

// sameClasses returns an error if the number of classes of an output, `classes`, differs from
// `before`, the number in earlier outputs.
func sameClasses(classes, before int) error {
	if classes != before {
		return fmt.Errorf("%d classes, but %d before", classes, before)
	}
	return nil
}

func (c *classCounts) item(predicted, target int) {
	c.label(predicted, true, predicted == target)
	if predicted != target {
		c.label(target, false, true)
	}
}

// label counts an item for one class. predicted says whether the item is predicted to have the
// class, and target whether it has it.
func (c *classCounts) label(class int, predicted, target bool) {
	n := (*c)[3*class:]
	if predicted && target {
		n[0]++
	}
	if predicted {
		n[1]++
	}
	if target {
		n[2]++
	}
}

// addClasses adds the items of an output of classes.
func (c *classCounts) addClasses(o Classes) error {
	k, err := o.classes()
	if err != nil || k == 0 {
		return err
	}
	if err := c.fit(k); err != nil {
		return err
	}
	return o.each(func(target int, row []float32) error {
		c.item(o.predicted(row), target)
		return nil
	})
}

// addLabels adds the items of an output of labels. Unknown targets do not count.
func (c *classCounts) addLabels(o Labels) error {
	return o.each(func(scores, targets []float32) error {
		if err := c.fit(len(targets)); err != nil {
			return err
		}
		for k, t := range targets {
			if t == t {
				c.label(k, o.Kind.above(scores[k], o.Threshold), t == 1)
			}
		}
		return nil
	})
}

func (c *classCounts) merge(o *classCounts) error {
	if len(*o) == 0 {
		return nil
	}
	if err := c.fit(o.classes()); err != nil {
		return err
	}
	for i, v := range *o {
		(*c)[i] += v
	}
	return nil
}

func (c *classCounts) numbers() numbers { return numbers{ints: *c} }

func (c *classCounts) restore(n numbers) error {
	if len(n.ints)%3 != 0 || len(n.floats) != 0 {
		return errSaved
	}
	*c = n.ints
	return nil
}
