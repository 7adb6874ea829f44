//go:build !noasm

package cpu

func lrnSquares(squares, x []float32) {
	n := len(x) / 16
	_ = squares[48*(n-1)+15]
	switch level {
	case AVX512:
		lrnSquaresAVX512(&squares[0], &x[0], n)
	case AVX2:
		lrnSquaresAVX2(&squares[0], &x[0], n)
	default:
		lrnSquaresRef(squares, x)
	}
}

func lrnBase(dst, squares []float32, size int, scale, bias float32) {
	n := len(dst) / 16
	_ = squares[48*(n-1)+15+size-1]
	switch level {
	case AVX512:
		lrnBaseAVX512(&dst[0], &squares[0], n, size, scale, bias)
	case AVX2:
		lrnBaseAVX2(&dst[0], &squares[0], n, size, scale, bias)
	default:
		lrnBaseRef(dst, squares, size, scale, bias)
	}
}

func lrnRoot(dst, x []float32) {
	n := len(dst) / 16
	if n > 0 {
		switch level {
		case AVX512:
			lrnRootAVX512(&dst[0], &x[0], n)
		case AVX2:
			lrnRootAVX2(&dst[0], &x[0], n)
		default:
			n = 0
		}
	}
	lrnRootRef(dst[16*n:], x[16*n:])
}
