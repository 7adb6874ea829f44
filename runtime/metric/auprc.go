package metric

import "math"

// AUPRC returns the area under the curve of precision over recall, computed as average precision:
// for each item of a class, take the precision of all predictions whose score is at least the
// score of this item; average over the items of the class. The curve is not interpolated. For two
// classes the value is the area of class 1. For more classes, each class is compared with all
// others, and the value is the mean of their areas. A class without items does not count. [AUROC]
// says when the value is exact.
func AUPRC() Metric[Classes] { return auprc((*ranking).addClasses) }

// LabelAUPRC is the mean of the [AUPRC] of the labels that at least one item has.
func LabelAUPRC() Metric[Labels] { return auprc((*ranking).addLabels) }

func auprc[O any](add func(*ranking, O) error) Metric[O] {
	return newMetric("AUPRC", "", 1, rule[O, *ranking]{
		empty: newRanking,
		add:   add,
		value: func(r *ranking) float64 { return r.mean((*ranked).auprc) },
		note:  (*ranking).kept,
	})
}

// auprc returns the area under one class's curve, or NaN if no item has the class.
func (c *ranked) auprc() float64 {
	all, _ := c.totals()
	if all == 0 {
		return math.NaN()
	}
	right, wrong, area := 0.0, 0.0, 0.0
	for positive, negative := range c.groups {
		right += positive
		wrong += negative
		area += positive * right / (right + wrong)
	}
	return area / all
}
