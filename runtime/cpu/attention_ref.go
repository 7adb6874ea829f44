package cpu

// attendRowsRef computes one step of an online softmax, for rows of n scores. Row r starts at
// x[r·stride]. The new top of a row is the maximum of tops[r] and its scores. attendRowsRef
// replaces each score by exp(score − new top), and tops[r] by the new top. It sets factors[r] to
// exp(old top − new top), and sums[r] to sums[r]·factors[r] plus the sum of the exponentials of the
// row.
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
