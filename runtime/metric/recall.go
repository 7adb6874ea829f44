package metric

// Recall returns the percentage of the items of a class that are predicted as such. A class that is
// predicted but has no items counts as 0.
func Recall(a Average) Metric[Classes] {
	return perClass("recall", a, recall, (*classCounts).addClasses)
}

// LabelRecall is [Recall] for labels.
func LabelRecall(a Average) Metric[Labels] {
	return perClass("recall", a, recall, (*classCounts).addLabels)
}

func recall(right, _, targets float64) float64 { return ratio(right, targets) }
