package metric

// Jaccard returns the percentage of the items that have a class and are predicted as such, among the
// items for which one of both holds.
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
