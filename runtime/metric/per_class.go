package metric

import (
	"fmt"
	"math"
	"strings"
)

// formula computes a measure of one class, such as precision, from 0 to 1. `right` is the number
// of true positives, `predicted` the number of predictions, and `targets` the number of items of
// the class. predicted and targets are not both 0.
type formula func(right, predicted, targets float64) float64

func (f formula) of(right, predicted, targets int64) float64 {
	if predicted+targets == 0 {
		return math.NaN()
	}
	return f(float64(right), float64(predicted), float64(targets))
}

// perClass returns a metric in percent: f of each class, averaged over the classes as a says. add
// counts the items of an output.
func perClass[O any](name string, a Average, f formula, add func(*classCounts, O) error) Metric[O] {
	return newMetric(fmt.Sprintf("%s (%v)", name, a), "%", 1, rule[O, *classCounts]{
		empty: newClassCounts,
		add: func(c *classCounts, o O) error {
			if err := add(c, o); err != nil {
				return err
			}
			if c.classes() == 0 {
				return nil
			}
			return a.check(c.classes())
		},
		value: func(c *classCounts) float64 { return 100 * a.value(c, f) },
		note: func(c *classCounts) string {
			if a >= 0 {
				return ""
			}
			return c.list(f)
		},
	})
}

const mostListed = 20

// list formats the value of each class in percent. It returns "" if there are more than mostListed
// classes.
func (c *classCounts) list(f formula) string {
	if c.classes() > mostListed {
		return ""
	}
	var parts []string
	for k := range c.classes() {
		parts = append(parts, fmt.Sprintf("%d: %s", k, format(100*f.of(c.of(k)), "%")))
	}
	return strings.Join(parts, ", ")
}
