package cpu

// Trilu keeps a triangle of each matrix and sets its other elements to zero (ONNX Trilu). There are
// `outer` matrices of rows×cols elements. If upper is true, the triangle is diagonal k and the
// elements above it. Otherwise it is diagonal k and the elements below it. Diagonal k starts at
// column k of row 0 or, if k is negative, at row −k of column 0. dst may be src.
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

// Eye sets dst to a matrix of rows×cols elements (ONNX EyeLike). The elements on diagonal k are
// `value`, and the others are zero. Diagonal k starts at column k of row 0 or, if k is negative, at
// row −k of column 0.
func Eye[T Number | bool](dst []T, rows, cols, k int, value T) {
	dst = trim(dst, volume(rows, cols))
	clear(dst)
	k = min(max(k, -rows), cols)
	for row := max(0, -k); row < min(rows, cols-k); row++ {
		dst[row*cols+row+k] = value
	}
}
