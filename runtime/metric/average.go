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

// invalid is the average of a class below 0.
const invalid = Weighted - 1

// Class returns the average that is the value of class k alone. Counters report an error if there is
// no such class.
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

// check returns an error if the average is not among those above, or is a class that classes does
// not have.
func (a Average) check(classes int) error {
	if a <= invalid {
		return errors.New("no such average: Macro, Micro, Weighted or a class from 0 expected")
	}
	if int(a) >= classes {
		return fmt.Errorf("class %d is asked for: the outputs have %d classes", int(a), classes)
	}
	return nil
}

// value returns the average of f over the classes that have predictions or targets. It returns NaN if
// there are none. A ratio whose denominator is 0 counts as 0, see [ratio].
func (a Average) value(c *classCounts, f formula) float64 {
	var right, predicted, targets int64 // of all classes
	sum, weight := 0.0, 0.0
	for k := range c.classes() {
		r, p, t := c.of(k)
		right, predicted, targets = right+r, predicted+p, targets+t
		if p+t == 0 {
			continue
		}
		w := 1.0
		switch {
		case a >= 0 && int(a) != k, a == Weighted && t == 0:
			continue
		case a == Weighted:
			w = float64(t)
		}
		sum += w * f(float64(r), float64(p), float64(t))
		weight += w
	}
	if a == Micro && predicted+targets > 0 {
		return f(float64(right), float64(predicted), float64(targets))
	}
	if a == Micro || weight == 0 {
		return math.NaN()
	}
	return sum / weight
}

// ratio returns a/b, or 0 if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
