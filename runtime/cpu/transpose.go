package cpu

// transpose writes dst[c·ldd+r] = src[r·lds+c] for all r < rows and c < columns.
func transpose(dst, src []float32, rows, columns, ldd, lds int) {
	if rows <= 0 || columns <= 0 {
		return
	}
	dst = dst[:(columns-1)*ldd+rows]
	src = src[:(rows-1)*lds+columns]
	r, c := transposeSquares(dst, src, rows, columns, ldd, lds)
	// What the squares have left: the last columns, then the last rows.
	for i := range r {
		for j := c; j < columns; j++ {
			dst[j*ldd+i] = src[i*lds+j]
		}
	}
	for i := r; i < rows; i++ {
		for j, v := range src[i*lds:][:columns] {
			dst[j*ldd+i] = v
		}
	}
}
