//go:build !noasm

package cpu

// attendRows computes what attendRowsRef does.
func attendRows(x []float32, rows, n, stride int, tops, sums, factors []float32) {
	_, _, _, _ = x[(rows-1)*stride+n-1], tops[rows-1], sums[rows-1], factors[rows-1]
	if level == NEON {
		attendRowsNEON(&x[0], rows, n, 4*stride, &tops[0], &sums[0], &factors[0])
	} else {
		attendRowsRef(x, rows, n, stride, tops, sums, factors)
	}
}
