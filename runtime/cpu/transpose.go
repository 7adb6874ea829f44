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
	for first := 0; first < r && c < columns; first += transposeRows {
		n := min(transposeRows, r-first)
		for j := c; j < columns; j++ {
			at := first*lds + j
			for i := range dst[j*ldd+first:][:n] {
				dst[j*ldd+first+i] = src[at]
				at += lds
			}
		}
	}
	for i := r; i < rows; i++ {
		for j, v := range src[i*lds:][:columns] {
			dst[j*ldd+i] = v
		}
	}
}

// transposeRows is how many rows are walked column by column while they are in a near
// cache.
const transposeRows = 512

// transposeColumns is how many columns of bytes are written at once: few, because they
// may be a power of two apart, which caches have little room for.
const transposeColumns = 32

// transposeBytes is transpose of elements of 8 bits.
func transposeBytes(dst, src []byte, rows, columns, ldd, lds int) {
	if rows <= 0 || columns <= 0 {
		return
	}
	dst = dst[:(columns-1)*ldd+rows]
	src = src[:(rows-1)*lds+columns]
	r, c := rows&^7, columns&^7
	for first := 0; first < c; first += transposeColumns {
		for i := 0; i < r; i += 8 {
			for j := first; j < min(first+transposeColumns, c); j += 8 {
				transposeEight(dst[j*ldd+i:], src[i*lds+j:], ldd, lds)
			}
		}
	}
	for j := range columns {
		first := 0
		if j < c {
			first = r
		}
		at := first*lds + j
		for i := first; i < rows; i++ {
			dst[j*ldd+i] = src[at]
			at += lds
		}
	}
}

// transposeEight transposes 8×8 bytes: it exchanges the halves of two rows, then the
// quarters, then single bytes.
func transposeEight(dst, src []byte, ldd, lds int) {
	var x [8]uint64
	for i := range x {
		x[i] = get(src[i*lds:])
	}
	for i := range 4 {
		t := (x[i]>>32 ^ x[i+4]) & 0x00000000ffffffff
		x[i], x[i+4] = x[i]^t<<32, x[i+4]^t
	}
	for _, i := range [4]int{0, 1, 4, 5} {
		t := (x[i]>>16 ^ x[i+2]) & 0x0000ffff0000ffff
		x[i], x[i+2] = x[i]^t<<16, x[i+2]^t
	}
	for i := 0; i < 8; i += 2 {
		t := (x[i]>>8 ^ x[i+1]) & 0x00ff00ff00ff00ff
		x[i], x[i+1] = x[i]^t<<8, x[i+1]^t
	}
	for i, v := range x {
		put(dst[i*ldd:], v)
	}
}
