package cpu

// attendRowsRef is a step of an online softmax. It processes rows of n scores; row r starts at
// x[r·stride]. It replaces a row's scores by exp(score − top), where the new top is the maximum of
// tops[r] and the scores. factors[r] is exp(old top − new top). It multiplies sums[r] by this
// factor and adds the exponentials.
func attendRowsRef(x []float32, rows, n, stride int, tops, sums, factors []float32) {
	for r := range rows {
		row := x[r*stride:][:n]
		top := tops[r]
		for _, v := range row {
			top = greater(top, v)
		}
		factor := expOf(tops[r] - top)
		sum := float64(sums[r]) * factor
		for i, v := range row {
			e := expOf(v - top)
			sum += e
			row[i] = float32(e)
		}
		tops[r], sums[r], factors[r] = top, float32(sum), float32(factor)
	}
}
