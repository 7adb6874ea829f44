package cpu

// portionOfAreas calls area for share i of a convolution that is divided into parts shares. A share
// is a run of output lines l0…l1, or of strips of output channels s0…s1, of one image after the
// other. It is a run of strips, line by line, if the weights are larger than the input, as heavy
// says, or if there are few lines. Otherwise it is a run of lines.
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
