package metric

import (
	"fmt"
	"math"
)

// AUROC returns the area under the receiver operating characteristic: the probability that an item
// of a class has a higher score than another item. Equal scores count as half. For two classes it is
// the area of class 1. For more it is the mean of the areas of each class against the others, over
// the classes that have items and do not have all of them.
//
// The value is exact for up to 10⁶ scores, which is the number of items times that of classes. Then
// scores are counted in bins between quantiles, 2¹⁶ in total, but at least 2¹⁰ for each class. The
// counter's text says which, and how far the value may be from that of the scores in the bins. In
// bins the value also depends on which items came first.
func AUROC() Metric[Classes] { return auroc((*ranking).addClasses) }

// LabelAUROC is the mean of the [AUROC] of labels.
func LabelAUROC() Metric[Labels] { return auroc((*ranking).addLabels) }

func auroc[O any](add func(*ranking, O) error) Metric[O] {
	return newMetric("AUROC", "", 1, rule[O, *ranking]{
		empty: newRanking,
		add:   add,
		value: func(r *ranking) float64 { return r.mean((*ranked).auroc) },
		note: func(r *ranking) string {
			if !r.binned() {
				return r.kept()
			}
			return fmt.Sprintf("%s, ± %.1g", r.kept(), r.mean((*ranked).uncertain))
		},
	})
}

// auroc returns the area of one class, or NaN if it has all items or none.
func (c *ranked) auroc() float64 {
	allPositive, allNegative := c.totals()
	if allPositive == 0 || allNegative == 0 {
		return math.NaN()
	}
	above, area := 0.0, 0.0
	for positive, negative := range c.groups {
		area += negative * (above + positive/2)
		above += positive
	}
	return area / allPositive / allNegative
}

// uncertain returns how much the area of one class may change if scores in a bin are not equal.
func (c *ranked) uncertain() float64 {
	allPositive, allNegative := c.totals()
	if allPositive == 0 || allNegative == 0 {
		return math.NaN()
	}
	pairs := 0.0
	for positive, negative := range c.groups {
		pairs += positive * negative
	}
	return pairs / 2 / allPositive / allNegative
}
