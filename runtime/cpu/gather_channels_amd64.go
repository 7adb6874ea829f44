//go:build !noasm

package cpu

func moveLanes(dst, src []float32, from, used *[16]int32) {
	n := len(dst) / 16
	if n == 0 {
		return
	}
	_ = src[16*n-1]
	switch level {
	case AVX512:
		moveLanesAVX512(&dst[0], &src[0], from, used, n)
	case AVX2:
		moveLanesAVX2(&dst[0], &src[0], from, used, n)
	default:
		moveLanesRef(dst, src, from, used)
	}
}

func moveBytes(dst, src []uint8, from *[16]uint8) {
	n := len(dst) / 16
	if n == 0 {
		return
	}
	_ = src[16*n-1]
	switch level {
	case AVX512, AVX2:
		moveBytesAVX2(&dst[0], &src[0], from, n)
	default:
		moveBytesRef(dst, src, from)
	}
}
