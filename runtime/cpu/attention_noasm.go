//go:build (!amd64 && !arm64) || noasm

package cpu

func attendRows(x []float32, rows, n, stride int, tops, sums, factors []float32) {
	attendRowsRef(x, rows, n, stride, tops, sums, factors)
}
