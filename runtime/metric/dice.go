package metric

// Dice returns the Dice coefficient of masks in percent: 2·|P ∩ T| / (|P| + |T|), where P are the
// pixels that are predicted to have a class, and T the pixels that have it. Pixels of all items are
// counted together. The background is a class like others; [Class] picks one.
func Dice(a Average) Metric[Masks] {
	return perClass("Dice", a, fBeta(1), (*classCounts).addMasks)
}
