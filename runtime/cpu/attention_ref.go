package cpu

// attendRowsRef makes of rows of n scores, stride apart, their exponentials less a top:
// the greatest of them and of the row's in tops, which it becomes. A row's sum is
// multiplied by its factor, the exponential of the former top less the new one, and
// the exponentials are added to it.
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
