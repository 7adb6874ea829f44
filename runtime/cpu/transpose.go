package cpu

import "unsafe"

// transpose transposes a matrix: dst[c·ldd+r] = src[r·lds+c] for all r < rows and c < columns.
func transpose[T any](dst, src []T, rows, columns, ldd, lds int) {
	if rows <= 0 || columns <= 0 {
		return
	}
	dst = dst[:(columns-1)*ldd+rows]
	src = src[:(rows-1)*lds+columns]
	isByte := unsafe.Sizeof(*new(T)) == 1
	if isByte && wideBytes(rows, columns) {
		transposeBytes(octetsOf(dst), octetsOf(src), rows, columns, ldd, lds, 0)
		return
	}
	r, c := transposeSquares(dst, src, rows, columns, ldd, lds)
	if r == 0 && isByte {
		r, c = rows&^7, columns&^7
		transposeEights(octetsOf(dst), octetsOf(src), r, c, ldd, lds, 0)
	}
	// The rest after the squares: the last columns, then the last rows.
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
	for ; r+8 <= rows && ldd <= moveTile; r += 8 { // into panels
		transposeOctet(dst[r:], src[r*lds:], columns, ldd, lds)
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

// transposeOctet is [transpose] for eight rows.
func transposeOctet[T any](dst, src []T, columns, ldd, lds int) {
	r0, r1, r2, r3 := src[:columns], src[lds:][:columns], src[2*lds:][:columns], src[3*lds:][:columns]
	r4, r5, r6, r7 := src[4*lds:][:columns], src[5*lds:][:columns], src[6*lds:][:columns], src[7*lds:][:columns]
	for j := range columns {
		d := dst[j*ldd:][:8]
		d[0], d[1], d[2], d[3] = r0[j], r1[j], r2[j], r3[j]
		d[4], d[5], d[6], d[7] = r4[j], r5[j], r6[j], r7[j]
	}
}

// transposeRows is the number of rows of a block. A block is transposed column by column, and its
// rows stay in a near cache meanwhile.
const transposeRows = 512
