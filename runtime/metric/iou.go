package metric

// IoU returns the intersection over union of masks in percent: the pixels that have a class and are
// predicted as such, divided by those for which one of both holds. Pixels of all items are counted
// together. With [Macro] it is known as mean IoU.
func IoU(a Average) Metric[Masks] {
	return perClass("IoU", a, jaccard, (*classCounts).addMasks)
}
