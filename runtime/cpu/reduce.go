package cpu

import "math"

// The reductions see src as [outer, n, inner], row-major, and reduce the middle axis: dst is [outer,
// inner]. Sums of floats are in float64, or in float32 for at most 4096 elements at a time. Sums and
// products of integers wrap.

// ReduceSum computes sums along the middle axis of src (ONNX ReduceSum). src is [outer, n, inner],
// and dst is [outer, inner]. The sum along an empty axis is 0.
func ReduceSum[T Number](dst, src []T, outer, n, inner int) {
	if d, u, ok := float32Arrays(dst, src, outer, n, inner); ok && reduceFast(sums, d, u, n, inner) {
		return
	}
	if isFloat[T]() {
		fold(dst, src, outer, n, inner, 0, plus[T], rounded[T])
		return
	}
	if inner == 1 {
		dst, src = trim(dst, outer), trim(src, outer*n)
		for o := range dst {
			dst[o] = total(src[o*n:][:n])
		}
		return
	}
	fold(dst, src, outer, n, inner, 0, func(acc, v T) T { return acc + v }, same[T])
}

// total returns the sum of integers.
func total[T Number](x []T) (sum T) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// ReduceMean computes means along the middle axis, like [ReduceSum] (ONNX ReduceMean). Integers are
// summed in 64 bits, and their mean is truncated toward zero. The mean along an empty axis is NaN
// for floats, and 0 for integers.
func ReduceMean[T Number](dst, src []T, outer, n, inner int) {
	if d, u, ok := float32Arrays(dst, src, outer, n, inner); ok && reduceFast(sums, d, u, n, inner) {
		DivScalar(d, d, float32(n))
		return
	}
	if isFloat[T]() {
		fold(dst, src, outer, n, inner, 0, plus[T], func(acc float64) T { return T(acc / float64(n)) })
		return
	}
	count := max(n, 1)
	if zero := T(0); zero-1 > zero {
		fold(dst, src, outer, n, inner, 0, func(acc uint64, v T) uint64 { return acc + uint64(v) }, func(acc uint64) T { return T(acc / uint64(count)) })
		return
	}
	fold(dst, src, outer, n, inner, 0, func(acc int64, v T) int64 { return acc + int64(v) }, func(acc int64) T { return T(acc / int64(count)) })
}

// ReduceSumSquare computes sums of squares along the middle axis, like [ReduceSum] (ONNX
// ReduceSumSquare).
func ReduceSumSquare[T Number](dst, src []T, outer, n, inner int) {
	if d, u, ok := float32Arrays(dst, src, outer, n, inner); ok && reduceFast(squares, d, u, n, inner) {
		return
	}
	if isFloat[T]() {
		fold(dst, src, outer, n, inner, 0, plusSquare[T], rounded[T])
		return
	}
	fold(dst, src, outer, n, inner, 0, func(acc, v T) T { return acc + v*v }, same[T])
}

// ReduceL1 computes sums of magnitudes along the middle axis, like [ReduceSum] (ONNX ReduceL1).
func ReduceL1[T Number](dst, src []T, outer, n, inner int) {
	if d, u, ok := float32Arrays(dst, src, outer, n, inner); ok && reduceFast(magnitudes, d, u, n, inner) {
		return
	}
	if isFloat[T]() {
		fold(dst, src, outer, n, inner, 0, func(acc float64, v T) float64 { return acc + math.Abs(float64(v)) }, rounded[T])
		return
	}
	fold(dst, src, outer, n, inner, 0, func(acc, v T) T {
		if v < 0 {
			return acc - v
		}
		return acc + v
	}, same[T])
}

// ReduceL2 computes the square root of the sum of squares along the middle axis, like [ReduceSum]
// (ONNX ReduceL2). For integers, the sums are in float64, and the results are truncated.
func ReduceL2[T Number](dst, src []T, outer, n, inner int) {
	if d, u, ok := float32Arrays(dst, src, outer, n, inner); ok && reduceFast(squares, d, u, n, inner) {
		Sqrt(d, d)
		return
	}
	fold(dst, src, outer, n, inner, 0, plusSquare[T], func(acc float64) T { return T(math.Sqrt(acc)) })
}

// ReduceLogSum computes natural logarithms of sums along the middle axis, like [ReduceSum] (ONNX
// ReduceLogSum).
func ReduceLogSum[T Float](dst, src []T, outer, n, inner int) {
	if d, u, ok := float32Arrays(dst, src, outer, n, inner); ok && reduceFast(sums, d, u, n, inner) {
		Log(d, d)
		return
	}
	fold(dst, src, outer, n, inner, 0, plus[T], func(acc float64) T { return T(math.Log(acc)) })
}

// ReduceLogSumExp computes the natural logarithm of the sum of exponentials along the middle axis,
// like [ReduceSum] (ONNX ReduceLogSumExp). The sum does not overflow. The result along an empty
// axis is −Inf.
func ReduceLogSumExp[T Float](dst, src []T, outer, n, inner int) {
	if d, u, ok := float32Arrays(dst, src, outer, n, inner); ok && reduceFast(exponentialSums, d, u, n, inner) {
		return
	}
	fold(dst, src, outer, n, inner, exponentials{top: math.Inf(-1)},
		func(acc exponentials, v T) exponentials { return acc.plusExp(float64(v)) },
		func(acc exponentials) T { return T(acc.top + math.Log(acc.sum)) })
}

// ReduceProd computes products along the middle axis, like [ReduceSum] (ONNX ReduceProd). The
// product along an empty axis is 1.
func ReduceProd[T Number](dst, src []T, outer, n, inner int) {
	if isFloat[T]() {
		reduceProducts(dst, src, outer, n, inner)
		return
	}
	fold(dst, src, outer, n, inner, 1, func(acc, v T) T { return acc * v }, same[T])
}

// reduceProducts is [ReduceProd] of floats, computed in float64.
func reduceProducts[T Number](dst, src []T, outer, n, inner int) {
	dst, src = trim(dst, outer*inner), trim(src, outer*n*inner)
	if inner > 1 {
		productColumns(dst, src, outer, n, inner)
		return
	}
	for o := range dst {
		x, p := src[o*n:][:n], [4]float64{1, 1, 1, 1}
		for ; len(x) >= 4; x = x[4:] {
			p[0] *= float64(x[0])
			p[1] *= float64(x[1])
			p[2] *= float64(x[2])
			p[3] *= float64(x[3])
		}
		for _, v := range x {
			p[0] *= float64(v)
		}
		dst[o] = T(float64(p[0]*p[1]) * float64(p[2]*p[3]))
	}
}

// productColumns is [reduceProducts] for inner > 1. It computes several columns at a time.
func productColumns[T Number](dst, src []T, outer, n, inner int) {
	var room [256]float64
	for o := range outer {
		for first := 0; first < inner; first += len(room) {
			to := dst[o*inner:][first:min(inner, first+len(room))]
			acc := room[:len(to)]
			Fill(acc, 1)
			for i := range n {
				for j, v := range src[(o*n+i)*inner+first:][:len(acc)] {
					acc[j] *= float64(v)
				}
			}
			for j, v := range acc {
				to[j] = T(v)
			}
		}
	}
}

// ReduceMax computes maxima along the middle axis, like [ReduceSum] (ONNX ReduceMax). The maximum
// is NaN if an element is. Along an empty axis it is −Inf, or the smallest integer.
func ReduceMax[T Number](dst, src []T, outer, n, inner int) {
	if d, u, ok := float32Arrays(dst, src, outer, n, inner); ok && reduceFast(maxima, d, u, n, inner) {
		return
	}
	least, _ := bounds[T]()
	if !isFloat[T]() && inner == 1 {
		dst, src = trim(dst, outer), trim(src, outer*n)
		for o := range dst {
			acc := least
			for _, v := range src[o*n:][:n] {
				acc = max(acc, v)
			}
			dst[o] = acc
		}
		return
	}
	fold(dst, src, outer, n, inner, least, func(acc, v T) T { return greater(acc, v) }, same[T])
}

// ReduceMin computes minima along the middle axis, like [ReduceSum] (ONNX ReduceMin). The minimum
// is NaN if an element is. Along an empty axis it is +Inf, or the largest integer.
func ReduceMin[T Number](dst, src []T, outer, n, inner int) {
	if d, u, ok := float32Arrays(dst, src, outer, n, inner); ok && reduceFast(minima, d, u, n, inner) {
		return
	}
	_, greatest := bounds[T]()
	if !isFloat[T]() && inner == 1 {
		dst, src = trim(dst, outer), trim(src, outer*n)
		for o := range dst {
			acc := greatest
			for _, v := range src[o*n:][:n] {
				acc = min(acc, v)
			}
			dst[o] = acc
		}
		return
	}
	fold(dst, src, outer, n, inner, greatest, func(acc, v T) T { return lesser(acc, v) }, same[T])
}

// ReduceAny reports whether any element along the middle axis is true (ONNX ReduceMax on booleans).
// The shapes are as in [ReduceSum].
func ReduceAny(dst, src []bool, outer, n, inner int) {
	fold(dst, src, outer, n, inner, false, func(acc, v bool) bool { return acc || v }, same[bool])
}

// ReduceAll reports whether all elements along the middle axis are true (ONNX ReduceMin on
// booleans). The shapes are as in [ReduceSum].
func ReduceAll(dst, src []bool, outer, n, inner int) {
	fold(dst, src, outer, n, inner, true, func(acc, v bool) bool { return acc && v }, same[bool])
}

// ArgMax finds the index of the maximum along the middle axis (ONNX ArgMax). src is [outer, n,
// inner], and dst is [outer, inner]. If several elements are the maximum, ArgMax takes the last of
// them if `last` is true, and otherwise the first. NaN is larger than every number. For an empty
// axis the index is 0.
func ArgMax[T Number](dst []int64, src []T, outer, n, inner int, last bool) {
	dst, src = trim(dst, outer*inner), trim(src, outer*n*inner)
	if x, ok := any(src).([]float32); ok && searchFast(maxima, dst, x, n, inner, last) {
		return
	}
	search(dst, src, outer, n, inner, last, func(x, y T) bool { return x > y })
}

// ArgMin finds the index of the minimum along the middle axis, like [ArgMax] (ONNX ArgMin). NaN is
// smaller than every number.
func ArgMin[T Number](dst []int64, src []T, outer, n, inner int, last bool) {
	dst, src = trim(dst, outer*inner), trim(src, outer*n*inner)
	if x, ok := any(src).([]float32); ok && searchFast(minima, dst, x, n, inner, last) {
		return
	}
	search(dst, src, outer, n, inner, last, func(x, y T) bool { return x < y })
}

// search finds, in each line along the middle axis, the element that comes first in the order
// `before`. It stores the element's index. NaN comes before all numbers. Of equal elements, search
// takes the one with the highest index if `last` is true, and otherwise the one with the lowest.
func search[T Number](dst []int64, src []T, outer, n, inner int, last bool, before func(x, y T) bool) {
	fold(dst, src, outer, n, inner, found[T]{}, func(f found[T], v T) found[T] {
		nan, wasNaN := v != v, f.v != f.v
		switch {
		case f.seen == 0, before(v, f.v), nan && !wasNaN:
			f.v, f.at = v, f.seen
		case last && (v == f.v || nan):
			f.at = f.seen
		}
		f.seen++
		return f
	}, func(f found[T]) int64 { return f.at })
}

// found is the state of a search: the best element so far, its index, and the number of elements
// that were seen.
type found[T any] struct {
	v        T
	at, seen int64
}

// fold reduces the middle axis of src, [outer, n, inner], to dst, [outer, inner]. Each element of
// dst has an accumulator, which starts as init. `step` adds an element of src to an accumulator,
// and `done` converts the accumulator to a result.
func fold[T, R, A any](dst []R, src []T, outer, n, inner int, init A, step func(A, T) A, done func(A) R) {
	dst, src = trim(dst, outer*inner), trim(src, outer*n*inner)
	if inner == 1 {
		for o := range dst {
			acc := init
			for _, v := range src[o*n:][:n] {
				acc = step(acc, v)
			}
			dst[o] = done(acc)
		}
		return
	}
	var tile [64]A
	for o := range outer {
		for first := 0; first < inner; first += len(tile) {
			acc := tile[:min(len(tile), inner-first)]
			Fill(acc, init)
			for i := range n {
				for j, v := range src[(o*n+i)*inner+first:][:len(acc)] {
					acc[j] = step(acc[j], v)
				}
			}
			each(dst[o*inner+first:][:len(acc)], acc, done)
		}
	}
}

func plus[T Number](acc float64, v T) float64 { return acc + float64(v) }

func plusSquare[T Number](acc float64, v T) float64 {
	return acc + float64(float64(v)*float64(v))
}

func rounded[T Number](acc float64) T { return T(acc) }

func same[T any](acc T) T { return acc }

// exponentials represents a sum of exponentials as sum·e^top. This form does not overflow.
type exponentials struct{ top, sum float64 }

func (s exponentials) plusExp(v float64) exponentials {
	switch {
	case v == s.top:
		s.sum++
	case v < s.top:
		s.sum += math.Exp(v - s.top)
	case v > s.top:
		s.sum = float64(s.sum*math.Exp(s.top-v)) + 1
		s.top = v
	default:
		s.sum = math.NaN()
	}
	return s
}

// bounds returns the smallest and the largest value of T. For floats, they are −Inf and +Inf.
func bounds[T Number]() (least, greatest T) {
	if isFloat[T]() {
		inf := math.Inf(1)
		return T(-inf), T(inf)
	}
	greatest = 1
	for next := greatest*2 + 1; next > greatest; next = greatest*2 + 1 {
		greatest = next
	}
	return T(0) - greatest - 1, greatest
}

type reduction int

const (
	sums reduction = iota
	squares
	magnitudes
	maxima
	minima
	exponentialSums // the logarithms of sums of exponentials
)
