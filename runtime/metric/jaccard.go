package metric

// Jaccard returns the Jaccard index in percent: |P ∩ T| / |P ∪ T|, where P are the items that are
// predicted to have a class, and T the items that have it.
func Jaccard(a Average) Metric[Classes] {
	return perClass("Jaccard", a, jaccard, (*classCounts).addClasses)
}

// LabelJaccard is [Jaccard] for labels.
func LabelJaccard(a Average) Metric[Labels] {
	return perClass("Jaccard", a, jaccard, (*classCounts).addLabels)
}

func jaccard(right, predicted, targets float64) float64 {
	return ratio(right, predicted+targets-right)
}
