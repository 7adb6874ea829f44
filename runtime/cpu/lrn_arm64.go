//go:build !noasm

package cpu

func lrnSquares(squares, x []float32) {
	n := len(x) / 16
	_ = squares[48*(n-1)+15]
	if level == NEON {
		lrnSquaresNEON(&squares[0], &x[0], n)
	} else {
		lrnSquaresRef(squares, x)
	}
}

func lrnBase(dst, squares []float32, size int, scale, bias float32) {
	n := len(dst) / 16
	_ = squares[48*(n-1)+15+size-1]
	if level == NEON {
		lrnBaseNEON(&dst[0], &squares[0], n, size, scale, bias)
	} else {
		lrnBaseRef(dst, squares, size, scale, bias)
	}
}

func lrnRoot(dst, x []float32) {
	n := 0
	if level == NEON && len(dst) >= 16 {
		n = len(dst) / 16
		lrnRootNEON(&dst[0], &x[0], n)
	}
	lrnRootRef(dst[16*n:], x[16*n:])
}
