package metric

import (
	"errors"
	"fmt"
	"math"
)

// Average says how the values of classes become one value.
type Average int

const (
	// Macro is the mean over the classes that occur among targets or predictions.
	Macro Average = -1 - iota
	// Micro counts all classes together.
	Micro
	// Weighted is the mean over classes, weighted by the number of targets. It is NaN if there are no
	// targets.
	Weighted
)

// invalid is the largest value that is not an average.
const invalid = Weighted - 1

// Class returns the average that contains only class k. Counters report an error if there is no such
// class.
func Class(k int) Average {
	if k < 0 {
		return invalid
	}
	return Average(k)
}

// String returns the name of the average, as in names of metrics.
func (a Average) String() string {
	switch a {
	case Macro:
		return "macro"
	case Micro:
		return "micro"
	case Weighted:
		return "weighted"
	}
	if a < 0 {
		return "invalid average"
	}
	return fmt.Sprintf("class %d", int(a))
}

// check returns an error if the average is invalid. The class of a [Class] average must be below
// `classes`, the number of classes.
func (a Average) check(classes int) error {
	if a <= invalid {
		return errors.New("no such average: Macro, Micro, Weighted or a class from 0 expected")
	}
	if int(a) >= classes {
		return fmt.Errorf("class %d is asked for: the outputs have %d classes", int(a), classes)
	}
	return nil
}

// value returns the average of f over the classes that have predictions or targets, or NaN if there
// is no such class. For Micro, it returns f of the sums of all classes' counts.
func (a Average) value(c *classCounts, f formula) float64 {
	if a == Micro {
		return f.of(c.total())
	}
	sum, weight := 0.0, 0.0
	for k := range c.classes() {
		right, predicted, targets := c.of(k)
		if w := a.weight(k, targets); w > 0 && predicted+targets > 0 {
			sum += w * f.of(right, predicted, targets)
			weight += w
		}
	}
	if weight == 0 {
		return math.NaN()
	}
	return sum / weight
}

func (a Average) weight(class int, targets int64) float64 {
	switch {
	case a == Weighted:
		return float64(targets)
	case a >= 0 && int(a) != class:
		return 0
	}
	return 1
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
