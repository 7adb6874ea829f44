//go:build (!amd64 && !arm64) || noasm

package cpu

func poolGradWindow(dst, x []float32, g *[16]float32, rows, columns, below, beside int) {
	poolGradWindowRef(dst, x, g, rows, columns, below, beside)
}
