package metric

// Dice returns the Dice coefficient of masks in percent: twice the pixels that have a class and are
// predicted as such, divided by the pixels of the class plus those predicted as the class. Pixels of
// all items are counted together. The background is a class like others; [Class] picks one.
func Dice(a Average) Metric[Masks] {
	return perClass("Dice", a, fBeta(1), (*classCounts).addMasks)
}
