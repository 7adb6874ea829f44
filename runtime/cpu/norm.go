package cpu

import "math"

// LayerNorm normalises each row of n elements to mean 0 and variance 1, and applies a scale and a
// bias (ONNX LayerNormalization): dst[r, i] = (src[r, i] − mean)/√(variance + eps)·scale[i] +
// bias[i]. The variance is the population variance. scale and bias have n elements. A nil scale
// means ones, and a nil bias zeros. dst may be src.
func LayerNorm[T Float](dst, src, scale, bias []T, rows, n int, eps T) {
	dst, src = trim(dst, rows*n), trim(src, rows*n)
	scale, bias = optional(scale, n), optional(bias, n)
	if d, u, ok := float32s1(dst, src); ok {
		t := rowTask{kind: layerNorms, dst: d, src: u, n: n, eps: float32(eps)}
		t.scale, t.bias = any(scale).([]float32), any(bias).([]float32)
		t.share()
		return
	}
	layerNormRef(dst, src, scale, bias, n, eps)
}

// layerNormRef is [LayerNorm] in plain Go.
func layerNormRef[T Float](dst, src, scale, bias []T, n int, eps T) {
	for ; len(dst) > 0; dst, src = dst[n:], src[n:] {
		to, from := dst[:n], src[:n]
		var sum, squares float64
		for _, v := range from {
			sum += float64(v)
		}
		mean := sum / float64(n)
		for _, v := range from {
			squares += float64((float64(v) - mean) * (float64(v) - mean))
		}
		inverse := 1 / math.Sqrt(squares/float64(n)+float64(eps))
		each(to, from, func(v T) T { return T((float64(v) - mean) * inverse) })
		scaleShift(to, scale, bias)
	}
}

// RMSNorm divides each row of n elements by its root mean square (ONNX RMSNormalization): dst[r, i]
// = src[r, i]/√(m + eps)·scale[i], where m is the mean of the squares. scale has n elements; nil
// means ones. dst may be src.
func RMSNorm[T Float](dst, src, scale []T, rows, n int, eps T) {
	dst, src = trim(dst, rows*n), trim(src, rows*n)
	scale = optional(scale, n)
	if d, u, ok := float32s1(dst, src); ok {
		t := rowTask{kind: rmsNorms, dst: d, src: u, scale: any(scale).([]float32), n: n, eps: float32(eps)}
		t.share()
		return
	}
	rmsNormRef(dst, src, scale, n, eps)
}

// rmsNormRef is [RMSNorm] in plain Go.
func rmsNormRef[T Float](dst, src, scale []T, n int, eps T) {
	for ; len(dst) > 0; dst, src = dst[n:], src[n:] {
		to, from := dst[:n], src[:n]
		var squares float64
		for _, v := range from {
			squares += float64(float64(v) * float64(v))
		}
		inverse := 1 / math.Sqrt(squares/float64(n)+float64(eps))
		each(to, from, func(v T) T { return T(float64(v) * inverse) })
		scaleShift(to, scale, nil)
	}
}

func optional[T any](s []T, n int) []T {
	if s == nil {
		return nil
	}
	return trim(s, n)
}

func scaleShift[T Float](row, scale, bias []T) {
	if scale != nil {
		Mul(row, row, scale)
	}
	if bias != nil {
		Add(row, row, bias)
	}
}
