package cpu

import "math"

// MelWeightMatrix computes mel filters (ONNX MelWeightMatrix). A filter is a band of weights for
// the bins of a one-sided spectrum of `length` samples. dst is [length/2 + 1, bands]. Band j is a
// triangle of height 1 from corner j to corner j + 2. On the mel scale, m(f) = 2595·log10(1 +
// f/700), corner i is at m(low) + i·(m(high) − m(low))/(bands + 2). Each corner is then rounded
// down to a bin. rate is the sample rate, and `low`, `high` and `rate` are in Hz.
func MelWeightMatrix[T Float](dst []T, bands, length int, rate, low, high float64) {
	rows := length/2 + 1
	dst = trim(dst, volume(rows, bands))
	clear(dst)
	const scale = 2595 / math.Ln10
	from := scale * math.Log1p(low/700)
	step := (scale*math.Log1p(high/700) - from) / float64(bands+2)
	corner := func(i int) int {
		hertz := 700 * math.Expm1((from+float64(float64(i)*step))/scale)
		bin := math.Floor(float64(length+1) * hertz / rate)
		if !(bin > 0) {
			return 0
		}
		return int(min(bin, 1<<30))
	}
	for j := range bands {
		left, top, right := corner(j), corner(j+1), corner(j+2)
		for i := left; i < min(top, rows); i++ {
			dst[i*bands+j] = T(float64(i-left) / float64(top-left))
		}
		for i := top; i < min(right, rows); i++ {
			dst[i*bands+j] = T(float64(right-i) / float64(right-top))
		}
		if top < rows {
			dst[top*bands+j] = 1
		}
	}
}
