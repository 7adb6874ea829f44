package cpu

// transposeBytes is [transpose] of bytes, each by exclusive or with change.
func transposeBytes(dst, src []byte, rows, columns, ldd, lds int, change byte) {
	if rows <= 0 || columns <= 0 {
		return
	}
	dst = dst[:(columns-1)*ldd+rows]
	src = src[:(rows-1)*lds+columns]
	r, c := rows&^7, columns&^7
	if !transposeBytesFast(dst, src, r, c, ldd, lds, change) {
		transposeEights(dst, src, r, c, ldd, lds, change)
	}
	for j := range columns {
		first := 0
		if j < c {
			first = r
		}
		at := first*lds + j
		for i := first; i < rows; i++ {
			dst[j*ldd+i] = src[at] ^ change
			at += lds
		}
	}
}

// transposeColumns is how many columns of bytes are written at once: few, because they
// may be a power of two apart, which caches have little room for.
const transposeColumns = 32

// transposeEights is transposeBytes of multiples of eight.
func transposeEights(dst, src []byte, rows, columns, ldd, lds int, change byte) {
	flips := uint64(fourTimes(change))<<32 | uint64(fourTimes(change))
	for first := 0; first < columns; first += transposeColumns {
		for i := 0; i < rows; i += 8 {
			for j := first; j < min(first+transposeColumns, columns); j += 8 {
				transposeEight(dst[j*ldd+i:], src[i*lds+j:], ldd, lds, flips)
			}
		}
	}
}

// transposeEight transposes 8×8 bytes: it exchanges the halves of two rows, then the
// quarters, then single bytes.
func transposeEight(dst, src []byte, ldd, lds int, flips uint64) {
	var x [8]uint64
	for i := range x {
		x[i] = get(src[i*lds:]) ^ flips
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
