package cpu

import "unsafe"

// transpose writes dst[c·ldd+r] = src[r·lds+c] for all r < rows and c < columns.
func transpose[T any](dst, src []T, rows, columns, ldd, lds int) {
	if rows <= 0 || columns <= 0 {
		return
	}
	dst = dst[:(columns-1)*ldd+rows]
	src = src[:(rows-1)*lds+columns]
	r, c := transposeSquares(dst, src, rows, columns, ldd, lds)
	if r == 0 && unsafe.Sizeof(*new(T)) == 1 {
		r, c = transposeBytes(octetsOf(dst), octetsOf(src), rows, columns, ldd, lds)
	}
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
	for first := r; first < rows; first += moveTile {
		n := min(moveTile, rows-first)
		for j := range columns {
			at := first*lds + j
			for i := range dst[j*ldd+first:][:n] {
				dst[j*ldd+first+i] = src[at]
				at += lds
			}
		}
	}
}

// transposeRows is how many rows are walked column by column while they are in a near
// cache.
const transposeRows = 512

// transposeColumns is how many columns of bytes are written at once: few, because they
// may be a power of two apart, which caches have little room for.
const transposeColumns = 32

// transposeBytes does the squares of 8×8 elements of 8 bits in words, and returns how many
// rows and columns they make up.
func transposeBytes(dst, src []byte, rows, columns, ldd, lds int) (r, c int) {
	r, c = rows&^7, columns&^7
	for first := 0; first < c; first += transposeColumns {
		for i := 0; i < r; i += 8 {
			for j := first; j < min(first+transposeColumns, c); j += 8 {
				transposeEight(dst[j*ldd+i:], src[i*lds+j:], ldd, lds)
			}
		}
	}
	return r, c
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
