package cpu

// transposeBytes is [transpose] for bytes, with each byte xored with change.
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

// blocksPerCall is the largest number of blocks of bytes that one call of assembly transposes.
const blocksPerCall = 4096

// wideBytes reports whether kernels that transpose many bytes at once apply.
func wideBytes(rows, columns int) bool {
	return hasTransposeBytes() && level == AVX512 && min(rows, columns) >= 16 && max(rows, columns) >= 64
}

// transposeBytesFast is transposeBytes in assembly. The numbers of rows and columns must be
// multiples of eight. It uses the kernels for large blocks where they fit, and the kernel for 8×8
// bytes elsewhere. It returns false if there is no assembly.
func transposeBytesFast(dst, src []byte, rows, columns, ldd, lds int, change byte) bool {
	if !hasTransposeBytes() || rows == 0 || columns == 0 {
		return hasTransposeBytes()
	}
	flips := fourTimes(change)
	// First 64 rows of 16, which are whole lines of the result, then 16 rows of 64.
	tallRows, tallColumns, wideRows, wideColumns := 0, 0, 0, 0
	if level == AVX512 {
		tallRows, tallColumns = rows&^63, columns&^15
		for j := 0; j < tallColumns; j += 16 {
			for i := 0; i < tallRows; i += 64 * blocksPerCall {
				transposeBytesTall(&dst[j*ldd+i], &src[i*lds+j], ldd, lds, 64, 64*lds, min(blocksPerCall, (tallRows-i)/64), flips)
			}
		}
		wideRows, wideColumns = rows&^15, columns&^63
		for i := tallRows; i < wideRows; i += 16 {
			for j := 0; j < wideColumns; j += 64 * blocksPerCall {
				transposeBytesWide(&dst[j*ldd+i], &src[i*lds+j], ldd, lds, 64*ldd, 64, min(blocksPerCall, (wideColumns-j)/64), flips)
			}
		}
	}
	squares := func(r0, r1, c0, c1 int) {
		for first := r0; first < r1; first += transposeRows {
			for j := c0; j < c1; j += 8 {
				transposeBytes8(&dst[j*ldd+first], &src[first*lds+j], ldd, lds, 8, 8*lds, min(transposeRows, r1-first)/8, flips)
			}
		}
	}
	squares(0, tallRows, tallColumns, columns)
	squares(tallRows, wideRows, wideColumns, columns)
	squares(max(tallRows, wideRows), rows, 0, columns)
	return true
}

// transposeColumns is the number of columns of bytes that are written at the same time. It is
// small: columns may be a power of two bytes apart, and a cache holds only a few such addresses at
// a time.
const transposeColumns = 32

// transposeEights is transposeBytes in plain Go. It XORs each byte with change. The numbers of rows
// and columns must be multiples of eight.
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

// transposeEight transposes 8×8 bytes. It XORs each row of 8 bytes with flips. It then exchanges
// the halves of two rows, then quarters of rows, and then single bytes.
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
