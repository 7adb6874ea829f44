package cpu

// Trilu keeps, of outer matrices of rows×cols elements, those on and above
// diagonal k where upper is set, else those on and below it, and makes the others
// zero (ONNX Trilu). Diagonal k begins at column k of row 0, or, when k is
// negative, at row −k. dst may be src.
func Trilu[T any](dst, src []T, outer, rows, cols int, k int64, upper bool) {
	n := volume(outer, rows, cols)
	dst, src = trim(dst, n), trim(src, n)
	diagonal := int(min(max(k, -int64(rows)), int64(cols)))
	for i := range outer * rows {
		to, from := dst[i*cols:][:cols], src[i*cols:][:cols]
		lo, hi := min(max(i%rows+diagonal, 0), cols), cols
		if !upper {
			lo, hi = 0, min(max(i%rows+diagonal+1, 0), cols)
		}
		clear(to[:lo])
		copy(to[lo:hi], from[lo:hi])
		clear(to[hi:])
	}
}

// Eye makes dst a matrix of rows×cols zeros with one on diagonal k, which begins
// at column k of row 0, or, when k is negative, at row −k (ONNX EyeLike).
func Eye[T Number | bool](dst []T, rows, cols, k int, one T) {
	dst = trim(dst, volume(rows, cols))
	clear(dst)
	k = min(max(k, -rows), cols)
	for row := max(0, -k); row < min(rows, cols-k); row++ {
		dst[row*cols+row+k] = one
	}
}
