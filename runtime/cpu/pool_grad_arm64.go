//go:build !noasm

package cpu

func poolGradWindow(dst, x []float32, g *[16]float32, rows, columns, below, beside int) {
	if level == NEON {
		poolGradNEON(&dst[0], &x[0], &g[0], rows, columns, 4*below, 4*beside)
	} else {
		poolGradWindowRef(dst, x, g, rows, columns, below, beside)
	}
}
