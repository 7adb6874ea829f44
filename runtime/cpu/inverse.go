package cpu

import "math"

// Inverse computes the inverses of `count` matrices of n×n elements. It uses Gauss-Jordan
// elimination with partial pivoting, in float64. If a pivot is 0, the matrix has no inverse, and the
// result has infinities or NaN. work is work space of 2·n·n elements. dst may be src.
func Inverse[T Float](dst, src []T, work []float64, count, n int) {
	size := volume(n, n)
	all := volume(count, size)
	dst, src, work = trim(dst, all), trim(src, all), trim(work, volume(2, size))
	for ; len(src) > 0; dst, src = dst[size:], src[size:] {
		for i := range n {
			row := work[2*n*i:][:2*n]
			for j, v := range src[n*i:][:n] {
				row[j] = float64(v)
			}
			clear(row[n:])
			row[n+i] = 1
		}
		for k := range n {
			clearColumn(work, n, k)
		}
		for i := range n {
			for j, v := range work[2*n*i+n:][:n] {
				dst[n*i+j] = T(v)
			}
		}
	}
}

// clearColumn does one step of a Gauss-Jordan elimination with partial pivoting: it turns column k
// into a column of the identity. work has n rows of 2·n elements.
func clearColumn(work []float64, n, k int) {
	best := k
	for i := k + 1; i < n; i++ {
		if math.Abs(work[2*n*i+k]) > math.Abs(work[2*n*best+k]) {
			best = i
		}
	}
	pivot, other := work[2*n*k:][:2*n], work[2*n*best:][:2*n]
	if best != k {
		for j, v := range pivot {
			pivot[j], other[j] = other[j], v
		}
	}
	scale := 1 / pivot[k]
	for j := range pivot {
		pivot[j] *= scale
	}
	for i := range n {
		if i == k {
			continue
		}
		row := work[2*n*i:][:2*n]
		factor := row[k]
		for j, v := range pivot {
			row[j] -= float64(factor * v)
		}
	}
}
