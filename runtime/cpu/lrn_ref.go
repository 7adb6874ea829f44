package cpu

import "math"

// lrnSquaresRef computes squares[i][j] = x[i][j]² for pixels i of 16 channels. In squares, adjacent
// pixels are 48 elements apart.
func lrnSquaresRef(squares, x []float32) {
	for i := range len(x) / 16 {
		to, from := squares[48*i:][:16], x[16*i:][:16]
		for j, v := range from {
			to[j] = v * v
		}
	}
}

// lrnBaseRef computes dst[i][j] = bias + scale·(squares[i][j] + … + squares[i][j+size−1]). Adjacent
// rows i are 16 elements apart in dst, and 48 elements apart in squares.
func lrnBaseRef(dst, squares []float32, size int, scale, bias float32) {
	for i := range len(dst) / 16 {
		for j := range 16 {
			var sum float32
			for _, v := range squares[48*i+j:][:size] {
				sum += v
			}
			dst[16*i+j] = bias + float32(scale*sum)
		}
	}
}

// lrnRootRef computes dst[i] = x[i] / (√dst[i]·√√dst[i]).
func lrnRootRef(dst, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		root := float32(math.Sqrt(float64(dst[i])))
		dst[i] = v / float32(root*float32(math.Sqrt(float64(root))))
	}
}
