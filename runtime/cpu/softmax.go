package cpu

import "math"

// Softmax computes the softmax of each line along the middle axis of src, [rows, n, inner] (ONNX
// Softmax). It first subtracts the line's maximum, so that exponentials do not overflow.
// Exponentials below the smallest normal number may become 0. dst may be src.
func Softmax[T Float](dst, src []T, rows, n, inner int) {
	dst, src = trim(dst, rows*n*inner), trim(src, rows*n*inner)
	if inner > 1 {
		softmaxColumns(dst, src, n, inner, false)
		return
	}
	if d, u, ok := float32s1(dst, src); ok {
		t := rowTask{kind: softmaxes, dst: d, src: u, n: n}
		t.share()
		return
	}
	softmaxRef(dst, src, n)
}

// SoftmaxExact is like [Softmax], but it is slower and keeps exponentials below the smallest normal
// number instead of replacing them by 0.
func SoftmaxExact[T Float](dst, src []T, rows, n, inner int) {
	dst, src = trim(dst, rows*n*inner), trim(src, rows*n*inner)
	if inner > 1 {
		softmaxColumns(dst, src, n, inner, false)
		return
	}
	for ; len(dst) > 0; dst, src = dst[n:], src[n:] {
		to, sum := dst[:n], 0.0
		SubScalar(to, src[:n], highest(src[:n]))
		Exp(to, to)
		for _, e := range to {
			sum += float64(e)
		}
		each(to, to, func(e T) T { return T(float64(e) / sum) })
	}
}

// softmaxRef is [Softmax] of rows of n elements in plain Go.
func softmaxRef[T Float](dst, src []T, n int) {
	for ; len(dst) > 0; dst, src = dst[n:], src[n:] {
		top, sum := highest(src[:n]), 0.0
		for i, v := range src[:n] {
			e := expOf(v - top)
			sum += e
			dst[i] = T(e)
		}
		each(dst[:n], dst, func(e T) T { return T(float64(e) / sum) })
	}
}

// LogSoftmax computes the logarithm of [Softmax] (ONNX LogSoftmax). It is accurate even where the
// softmax is tiny. dst may be src.
func LogSoftmax[T Float](dst, src []T, rows, n, inner int) {
	dst, src = trim(dst, rows*n*inner), trim(src, rows*n*inner)
	if inner > 1 {
		softmaxColumns(dst, src, n, inner, true)
		return
	}
	if d, u, ok := float32s1(dst, src); ok {
		t := rowTask{kind: logSoftmaxes, dst: d, src: u, n: n}
		t.share()
		return
	}
	logSoftmaxRef(dst, src, n)
}

// logSoftmaxRef is [LogSoftmax] of rows of n elements in plain Go.
func logSoftmaxRef[T Float](dst, src []T, n int) {
	for ; len(dst) > 0; dst, src = dst[n:], src[n:] {
		top, sum := highest(src[:n]), 0.0
		for i, v := range src[:n] {
			dst[i] = v - top
			sum += expOf(v - top)
		}
		SubScalar(dst[:n], dst, T(math.Log(sum)))
	}
}

// highest returns the greatest element of x. It returns NaN if an element is NaN, and −Inf if x is
// empty.
func highest[T Float](x []T) T {
	top := T(math.Inf(-1))
	for _, v := range x {
		top = greater(top, v)
	}
	return top
}

// softmaxColumns is [Softmax], or [LogSoftmax] if log is true, for lines whose elements are `inner`
// apart. It processes several adjacent lines together: it handles the first elements of all these
// lines, then the second elements, and so on.
func softmaxColumns[T Float](dst, src []T, n, inner int, log bool) {
	const width = 256
	var top, sum, exp [width]T
	for ; len(dst) > 0; dst, src = dst[n*inner:], src[n*inner:] {
		for first := 0; first < inner; first += width {
			w := min(width, inner-first)
			top, sum, exp := top[:w], sum[:w], exp[:w]
			copy(top, src[first:])
			for i := 1; i < n; i++ {
				Max(top, top, src[i*inner+first:][:w])
			}
			var total [width]float64
			for i := range n {
				to := dst[i*inner+first:][:w]
				Sub(to, src[i*inner+first:][:w], top)
				Exp(exp, to)
				if !log {
					copy(to, exp)
				}
				if i%32 == 0 {
					moveTo(total[:w], sum)
				}
				Add(sum, sum, exp)
			}
			moveTo(total[:w], sum)
			for i, v := range total[:w] {
				if log {
					v = math.Log(v)
				}
				sum[i] = T(v)
			}
			for i := range n {
				to := dst[i*inner+first:][:w]
				if log {
					Sub(to, to, sum)
				} else {
					Div(to, to, sum)
				}
			}
			clear(sum)
		}
	}
}

// moveTo adds sum[i] to total[i], and sets sum[i] to 0.
func moveTo[T Float](total []float64, sum []T) {
	for i, v := range sum {
		total[i] += float64(v)
		sum[i] = 0
	}
}
