//go:build (!amd64 && !arm64) || noasm

package cpu

func lrnSquares(squares, x []float32) { lrnSquaresRef(squares, x) }

func lrnBase(dst, squares []float32, size int, scale, bias float32) {
	lrnBaseRef(dst, squares, size, scale, bias)
}

func lrnRoot(dst, x []float32) { lrnRootRef(dst, x) }
