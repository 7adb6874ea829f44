package metric

// Precision returns the percentage of the predictions of a class that are right. A class that has
// items but is never predicted counts as 0.
func Precision(a Average) Metric[Classes] {
	return perClass("precision", a, precision, (*classCounts).addClasses)
}

// LabelPrecision is [Precision] for labels.
func LabelPrecision(a Average) Metric[Labels] {
	return perClass("precision", a, precision, (*classCounts).addLabels)
}

func precision(right, predicted, _ float64) float64 { return ratio(right, predicted) }
