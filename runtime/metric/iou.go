package metric

// IoU returns the intersection over union of masks in percent: |P ∩ T| / |P ∪ T|, where P are the
// pixels that are predicted to have a class, and T the pixels that have it. Pixels of all items are
// counted together. With [Macro] it is known as mean IoU.
func IoU(a Average) Metric[Masks] {
	return perClass("IoU", a, jaccard, (*classCounts).addMasks)
}
