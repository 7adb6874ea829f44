//go:build !noasm

package cpu

func poolGradWindow(dst, x []float32, g *[16]float32, rows, columns, below, beside int) {
	switch level {
	case AVX512:
		poolGradAVX512(&dst[0], &x[0], &g[0], rows, columns, 4*below, 4*beside)
	case AVX2:
		poolGradAVX2(&dst[0], &x[0], &g[0], rows, columns, 4*below, 4*beside)
	default:
		poolGradWindowRef(dst, x, g, rows, columns, below, beside)
	}
}
