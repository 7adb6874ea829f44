//go:build !noasm

package cpu

import "golang.org/x/sys/cpu"

// vnni tells whether there are the instructions that AVX-512 has for sums of products
// of bytes.
var vnni = cpu.X86.HasAVX512VNNI

// runBytes calls the level's kernel for tiles of bytes.
func runBytes(t *tile) {
	switch {
	case level == AVX512 && vnni:
		byteTileVNNI(t)
	case level >= AVX2:
		byteTileAVX2(t)
	default:
		byteTileRef(t)
	}
}

// runByteWindow calls the level's kernel for windows over bytes.
func runByteWindow(t *byteWindow) {
	switch {
	case level < AVX2 || t.cell != 16:
		byteWindowRef(t)
	case level == AVX512 && vnni:
		byteWindowVNNI(t)
	default:
		byteWindowAVX2(t)
	}
}

// runMaxRow calls the level's kernel for pools of bytes.
func runMaxRow(t *maxRow) {
	if level >= AVX2 {
		maxRowAVX2(t)
	} else {
		maxRowRef(t)
	}
}

// quantizeBytes quantises the first elements and returns how many.
func quantizeBytes(dst []byte, x []float32, q *quantum) (done int) {
	if level < AVX2 {
		return 0
	}
	for n := len(x) &^ 15; done < n; {
		part := min(n-done, atOnce&^15)
		if level == AVX512 && q.times == q.times {
			quantizeBytesAVX512(&dst[done], &x[done], part, q)
		} else {
			quantizeBytesAVX2(&dst[done], &x[done], part, q)
		}
		done += part
	}
	return done
}

// dequantizeBytes dequantises the first elements and returns how many.
func dequantizeBytes(dst []float32, x []byte, signed bool, q *quantum) (done int) {
	if level < AVX2 {
		return 0
	}
	for n := len(x) &^ 15; done < n; {
		part := min(n-done, atOnce&^15)
		switch to, from := &dst[done], &x[done]; {
		case level == AVX512 && signed:
			dequantizeI8AVX512(to, from, part, q)
		case level == AVX512:
			dequantizeU8AVX512(to, from, part, q)
		case signed:
			dequantizeI8AVX2(to, from, part, q)
		default:
			dequantizeU8AVX2(to, from, part, q)
		}
		done += part
	}
	return done
}

// packRowFast packs the first bytes of a row. It returns how many, and their sum.
func packRowFast(dst, src []byte, change byte) (done int, sum int32) {
	if level < AVX2 {
		return 0, 0
	}
	for n := len(src) &^ 31; done < n; {
		part := min(n-done, atOnce&^31)
		sum += int32(packRowAVX2(&dst[done], &src[done], part, fourTimes(change)))
		done += part
	}
	return done, sum
}

// packPanels packs so many groups of four rows of so many panels of 16 columns, whose
// rows are row bytes apart and whose panels are size bytes apart, and adds their columns
// to the sums. It returns how many panels it has done.
func packPanels(dst, src []byte, sums []int32, panels, size, groups, row int, change byte) (done int) {
	if level < AVX2 || groups == 0 {
		return 0
	}
	flips := fourTimes(change)
	for done < panels {
		to, from, sum := &dst[done*size], &src[16*done], &sums[16*done]
		switch left := panels - done; {
		case level == AVX512 && left >= 4:
			packColumns4AVX512(to, from, sum, row, size, groups, flips)
			done += 4
		case left >= 2:
			packColumns2AVX2(to, from, sum, row, size, groups, flips)
			done += 2
		default:
			packColumns1AVX2(to, from, sum, row, size, groups, flips)
			done++
		}
	}
	return done
}

// blocksPerCall bounds the time of one call.
const blocksPerCall = 4096

// wideBytes reports whether bytes are transposed by the kernels for many at once.
func wideBytes(rows, columns int) bool {
	return level == AVX512 && min(rows, columns) >= 16 && max(rows, columns) >= 64
}

// transposeBytesFast is transposeBytes of multiples of eight: what is large enough in one
// direction by the kernels for that, the rest by squares.
func transposeBytesFast(dst, src []byte, rows, columns, ldd, lds int, change byte) bool {
	if level < AVX2 || rows == 0 || columns == 0 {
		return level >= AVX2
	}
	flips := fourTimes(change)
	// By 64 rows of 16, which are whole lines of the result, then by 16 rows of 64.
	tallRows, tallColumns, wideRows, wideColumns := 0, 0, 0, 0
	if level == AVX512 {
		tallRows, tallColumns = rows&^63, columns&^15
		for j := 0; j < tallColumns; j += 16 {
			for i := 0; i < tallRows; i += 64 * blocksPerCall {
				transposeBytesTallAVX512(&dst[j*ldd+i], &src[i*lds+j], ldd, lds, 64, 64*lds, min(blocksPerCall, (tallRows-i)/64), flips)
			}
		}
		wideRows, wideColumns = rows&^15, columns&^63
		for i := tallRows; i < wideRows; i += 16 {
			for j := 0; j < wideColumns; j += 64 * blocksPerCall {
				transposeBytesWideAVX512(&dst[j*ldd+i], &src[i*lds+j], ldd, lds, 64*ldd, 64, min(blocksPerCall, (wideColumns-j)/64), flips)
			}
		}
	}
	squares := func(r0, r1, c0, c1 int) {
		for first := r0; first < r1; first += transposeRows {
			for j := c0; j < c1; j += 8 {
				transposeBytes8AVX2(&dst[j*ldd+first], &src[first*lds+j], ldd, lds, 8, 8*lds, min(transposeRows, r1-first)/8, flips)
			}
		}
	}
	squares(0, tallRows, tallColumns, columns)
	squares(tallRows, wideRows, wideColumns, columns)
	squares(max(tallRows, wideRows), rows, 0, columns)
	return true
}
