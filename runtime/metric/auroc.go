package metric

import (
	"fmt"
	"math"
)

// AUROC returns the area under the receiver operating characteristic: the probability that an item of a class has a
// higher score than another item. Equal scores count as half. Two classes have one area, the area of class 1. More
// classes have one area each, of the class against all others, and the value is their mean. A class without items, or
// with all items, does not count.
//
// The counter keeps up to 10⁶ scores, one for each item and area. The value is exact then. A counter with more scores
// only counts how many fall into each bin. The bounds of the bins are quantiles of the first scores, so that the
// value depends on which items came first. The classes share 2¹⁶ bins; if there are more than 64 classes, each has
// 2¹⁰. Equal quantiles make one bound. The counter's text says whether the value is exact, and otherwise how far it
// may be from the exact value.
func AUROC() Metric[Classes] { return auroc((*ranking).addClasses) }

// LabelAUROC returns the mean area under the ROC curves of the labels; see [AUROC]. It leaves out
// the labels that every item has, and the labels that no item has.
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

// auroc returns the area under one class's curve, or NaN if no item or every item has the class.
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

// uncertain returns a bound on the error of auroc. The error arises because different scores in a bin count as equal.
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
