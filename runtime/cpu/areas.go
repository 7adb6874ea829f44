package cpu

// portionOfAreas divides a convolution into `parts` shares, and calls area for the regions of share
// i. A region is the output lines [l0, l1) of the strips [s0, s1) of output channels of one image.
// If there are few lines, or if heavy says that the weights are larger than the input, a share is a
// run of single strips: each region has one strip. Otherwise a share is a run of lines, and each
// region has all strips.
func portionOfAreas(images, strips, lines int, heavy bool, i, parts int, area func(image, l0, l1, s0, s1 int)) {
	if parts > 1 && (heavy || lines < 8*parts) {
		from, to := portion(images*strips*lines, i, parts)
		for from < to {
			strip := from / lines
			first := strip * lines
			end := min(to, first+lines)
			area(strip/strips, from-first, end-first, strip%strips, strip%strips+1)
			from = end
		}
		return
	}
	from, to := portion(images*lines, i, parts)
	for from < to {
		image := from / lines
		end := min(to, (image+1)*lines)
		area(image, from-image*lines, end-image*lines, 0, strips)
		from = end
	}
}
