package metric

import (
	"cmp"
	"slices"
)

// mostBoxes is the largest number of predictions of a class that count in an item. The predictions
// with the largest scores count.
const mostBoxes = 100

// found is a prediction. Bit k of right and ignored belongs to threshold k.
type found struct {
	score float64
	// the prediction has a target
	right uint64
	// the prediction is inside a crowd
	ignored uint64
}

// matchBoxes matches the predictions of one class in one item with its targets, for each threshold.
// Predictions choose in descending order of their scores; ties keep their order. A prediction takes
// the free target that overlaps most, if the overlap reaches the threshold; of a tie it takes the
// last target. It is matched with a crowd only if there is no such target. Crowds are never taken.
func matchBoxes(predicted, targets []Box, thresholds []float64) []found {
	predicted = slices.Clone(predicted)
	slices.SortStableFunc(predicted, func(a, b Box) int { return cmp.Compare(b.Score, a.Score) })
	predicted = predicted[:min(len(predicted), mostBoxes)]
	list := make([]found, len(predicted))
	taken := make([]uint64, len(targets))
	overlaps := make([]float64, len(targets))
	for i, p := range predicted {
		list[i].score = float64(p.Score)
		for j, t := range targets {
			overlaps[j] = p.overlapWith(t)
		}
		for k, threshold := range thresholds {
			bit := uint64(1) << k
			if j := bestTarget(targets, overlaps, threshold, func(j int) bool { return taken[j]&bit == 0 }); j >= 0 {
				list[i].right |= bit
				taken[j] |= bit
			} else if insideCrowd(targets, overlaps, threshold) {
				list[i].ignored |= bit
			}
		}
	}
	return list
}

// roundedOverlap is the largest effective threshold of overlap. Larger thresholds are lowered to
// it, so that an overlap of 1 that rounding has made slightly smaller passes.
const roundedOverlap = 1 - 1e-10

// bestTarget returns the index of the free target with the largest overlap; of a tie it returns the
// last index. Crowds do not count. It returns -1 if no free target overlaps by at least the
// threshold.
func bestTarget(targets []Box, overlaps []float64, threshold float64, free func(int) bool) int {
	best, most := -1, min(threshold, roundedOverlap)
	for j, t := range targets {
		if !t.Crowd && overlaps[j] >= most && free(j) {
			best, most = j, overlaps[j]
		}
	}
	return best
}

// insideCrowd reports whether the overlap with a crowd is at least the threshold.
func insideCrowd(targets []Box, overlaps []float64, threshold float64) bool {
	for j, t := range targets {
		if t.Crowd && overlaps[j] >= min(threshold, roundedOverlap) {
			return true
		}
	}
	return false
}
