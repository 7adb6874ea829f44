package metric

import (
	"fmt"
	"math"
)

// F1 returns the harmonic mean of precision and recall, in percent.
func F1(a Average) Metric[Classes] { return FBeta(1, a) }

// FBeta returns the weighted harmonic mean of precision and recall, in percent. Recall is beta
// times as important as precision (van Rijsbergen: Information retrieval, 1979). [Macro] and
// [Weighted] are means of the values of the classes. A counter reports an error if beta is
// negative, infinite or NaN.
func FBeta(beta float64, a Average) Metric[Classes] {
	return perClass(fName(beta), a, fBeta(beta), checkBeta(beta, (*classCounts).addClasses))
}

// LabelF1 is [F1] for labels.
func LabelF1(a Average) Metric[Labels] { return LabelFBeta(1, a) }

// LabelFBeta is [FBeta] for labels.
func LabelFBeta(beta float64, a Average) Metric[Labels] {
	return perClass(fName(beta), a, fBeta(beta), checkBeta(beta, (*classCounts).addLabels))
}

func fName(beta float64) string { return fmt.Sprintf("F%g", beta) }

// fBeta returns the formula (1+β²)·right / (β²·targets + predicted), the weighted harmonic mean of
// precision and recall.
func fBeta(beta float64) formula {
	return func(right, predicted, targets float64) float64 {
		return ratio((1+beta*beta)*right, beta*beta*targets+predicted)
	}
}

func checkBeta[O any](beta float64, add func(*classCounts, O) error) func(*classCounts, O) error {
	if beta >= 0 && !math.IsInf(beta, 0) {
		return add
	}
	return func(*classCounts, O) error { return fmt.Errorf("beta is %g: a number from 0 expected", beta) }
}
