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
