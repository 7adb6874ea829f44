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

// matchBoxes matches the predictions of one class in one item with its targets, separately for each
// threshold of overlap. It takes the predictions in descending order of their scores, at most 100
// of them; ties keep their order. The result has an element for each of these predictions, in this
// order. A prediction is matched with the free target that overlaps it most, if the overlap reaches
// the threshold; of a tie, with the last target. The target is then taken. If there is no such
// target, the prediction may be matched with a crowd, which stays free.
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

// roundedOverlap is the largest threshold of overlap that is used. Larger thresholds are lowered to
// it: rounding may make an overlap of 1 slightly smaller, and it must still reach a threshold of 1.
const roundedOverlap = 1 - 1e-10

// bestTarget returns the index of the free target with the largest overlap, of a tie the last
// index. overlaps[j] is the overlap of one prediction with targets[j]. bestTarget returns -1 if no
// free target overlaps by at least `threshold`. Crowds do not count as targets.
func bestTarget(targets []Box, overlaps []float64, threshold float64, free func(int) bool) int {
	best, most := -1, min(threshold, roundedOverlap)
	for j, t := range targets {
		if !t.Crowd && overlaps[j] >= most && free(j) {
			best, most = j, overlaps[j]
		}
	}
	return best
}

// insideCrowd reports whether one of the targets is a crowd and overlaps a prediction by at least
// the threshold. overlaps[j] is the overlap with targets[j].
func insideCrowd(targets []Box, overlaps []float64, threshold float64) bool {
	for j, t := range targets {
		if t.Crowd && overlaps[j] >= min(threshold, roundedOverlap) {
			return true
		}
	}
	return false
}
