package cpu

// portionOfAreas calls area for the i-th of parts shares of a convolution: for lines l0…l1
// and strips s0…s1 of output channels of one image after the other. Shares are of the
// strips, line by line, where the weights are heavy, more than the input, or the lines
// are few, else of the lines.
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
