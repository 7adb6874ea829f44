package cpu

import "math"

// CosineWindow stores the window a − b·cos t + c·cos 2t in dst (ONNX BlackmanWindow, HammingWindow,
// HannWindow). For element i of n, t is 2π·i/(n − 1), or 2π·i/n if periodic is true. A window of
// one element that is not periodic is 1.
func CosineWindow[T Float](dst []T, periodic bool, a, b, c float64) {
	turn := len(dst)
	if !periodic {
		turn--
	}
	if turn == 0 {
		Fill(dst, 1)
		return
	}
	for i := range dst {
		t := 2 * math.Pi * (float64(i) / float64(turn))
		dst[i] = T(a - float64(b*math.Cos(t)) + float64(c*math.Cos(2*t)))
	}
}
