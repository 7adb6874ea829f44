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
		if level == AVX512 {
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
func packPanels(dst, src []byte, sums *[16 * panelStrip]int32, panels, size, groups, row int, change byte) (done int) {
	if level < AVX2 || groups == 0 {
		return 0
	}
	flips := fourTimes(change)
	for done < panels {
		next := 1
		for from := 0; from < groups; from += groupsAtOnce {
			to, at, sum, n := &dst[done*size+64*from], &src[4*from*row+16*done], &sums[16*done], min(groupsAtOnce, groups-from)
			switch left := panels - done; {
			case level == AVX512 && left >= 4:
				packColumns4AVX512(to, at, sum, row, size, n, flips)
				next = 4
			case left >= 2:
				packColumns2AVX2(to, at, sum, row, size, n, flips)
				next = 2
			default:
				packColumns1AVX2(to, at, sum, row, size, n, flips)
			}
		}
		done += next
	}
	return done
}

// groupsAtOnce bounds the time of one call.
const groupsAtOnce = 4096
