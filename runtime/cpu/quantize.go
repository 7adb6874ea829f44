package cpu

import (
	"math"
	"unsafe"
)

// Quantized is the constraint of integers to which floats are quantised. An integer of less than 8
// bits takes a byte.
type Quantized interface {
	int8 | int16 | int32 | uint8 | uint16
}

// Quantize computes dst[i] = x[i]/scale rounded to the nearest integer, ties to even, plus zero,
// clamped to lo…hi (ONNX QuantizeLinear). NaN becomes lo. x and dst are [outer, n, inner]. If block
// is 0, there is a scale for each index along n. Otherwise there are [outer, ⌈n/block⌉, inner]
// scales, each for `block` adjacent indices along n. zero has one element for each scale; nil means
// zeros.
func Quantize[T Quantized](dst []T, x, scale []float32, zero []T, outer, n, inner, block, lo, hi int) {
	count := volume(outer, n, inner)
	dst, x = trim(dst, count), trim(x, count)
	s := scales(scale, zero, outer, n, inner, block)
	if inner == 1 && block == 0 {
		quantizeEach(&s, dst, x, lo, hi)
		return
	}
	for from := 0; from < count; {
		to, k := s.run(from)
		QuantizeScalar(dst[from:to], x[from:to], s.scale[k], s.zeroAt(k), lo, hi)
		from = to
	}
}

// Dequantize computes dst[i] = (x[i] − zero)·scale (ONNX DequantizeLinear). scale, zero and block
// have the meaning that they have in [Quantize].
func Dequantize[T Quantized](dst []float32, x []T, scale []float32, zero []T, outer, n, inner, block int) {
	count := volume(outer, n, inner)
	dst, x = trim(dst, count), trim(x, count)
	s := scales(scale, zero, outer, n, inner, block)
	if inner == 1 && block == 0 {
		dequantizeEach(&s, dst, x)
		return
	}
	for from := 0; from < count; {
		to, k := s.run(from)
		DequantizeScalar(dst[from:to], x[from:to], s.scale[k], s.zeroAt(k))
		from = to
	}
}

// granularity says which scale and zero point an element of a tensor [outer, n, inner] has. If block
// is 0, there is one scale for each index of axis n. Otherwise there is one for each block of `block`
// elements along axis n: [outer, ⌈n/block⌉, inner]. If zero is nil, all zero points are 0.
type granularity[T Quantized] struct {
	scale           []float32
	zero            []T
	n, inner, block int
}

// scales returns the granularity of a tensor [outer, n, inner]. It panics if there are too few
// scales or zero points.
func scales[T Quantized](scale []float32, zero []T, outer, n, inner, block int) granularity[T] {
	count := n
	if block > 0 {
		count = volume(outer, ceil(n, block), inner)
	}
	if zero != nil {
		zero = trim(zero, count)
	}
	return granularity[T]{trim(scale, count), zero, n, inner, block}
}

// run returns the end `to` of a range of elements that have the same scale, and the index of this
// scale. The range begins at element `from`.
func (g *granularity[T]) run(from int) (to, scale int) {
	row := from / g.inner
	if g.block == 0 {
		return (row + 1) * g.inner, row % g.n
	}
	i := row % g.n
	scale = (row/g.n*ceil(g.n, g.block)+i/g.block)*g.inner + from%g.inner
	if g.inner > 1 {
		return from + 1, scale
	}
	return row - i + min((i/g.block+1)*g.block, g.n), scale
}

// quantizeEach is [Quantize] for rows of g.n elements in which each element has its own scale.
func quantizeEach[T Quantized](g *granularity[T], dst []T, x []float32, lo, hi int) {
	for from := 0; from < len(x); from += g.n {
		to := dst[from:][:g.n]
		for i, v := range x[from:][:g.n] {
			zero := g.zeroAt(i)
			r := math.RoundToEven(float64(v/g.scale[i])) + float64(zero)
			switch {
			case !(r > float64(lo)):
				to[i] = T(lo)
			case r > float64(hi):
				to[i] = T(hi)
			default:
				to[i] = T(int(r))
			}
		}
	}
}

// dequantizeEach is [Dequantize] for rows of g.n elements in which each element has its own scale.
func dequantizeEach[T Quantized](g *granularity[T], dst []float32, x []T) {
	for from := 0; from < len(x); from += g.n {
		to, scale := dst[from:][:g.n], g.scale[:g.n]
		if g.zero == nil {
			for i, v := range x[from:][:g.n] {
				to[i] = float32(int64(v)) * scale[i]
			}
			continue
		}
		zero := g.zero[:g.n]
		for i, v := range x[from:][:g.n] {
			to[i] = float32(int64(v)-int64(zero[i])) * scale[i]
		}
	}
}

func (g *granularity[T]) zeroAt(k int) int {
	if g.zero == nil {
		return 0
	}
	return int(g.zero[k])
}

// QuantizeScalar is [Quantize] with one scale and one zero point. lo ≤ zero ≤ hi must hold.
func QuantizeScalar[T Quantized](dst []T, x []float32, scale float32, zero, lo, hi int) {
	x = trim(x, len(dst))
	least, most := lo-zero, hi-zero
	if least <= -exactFloat || most >= exactFloat {
		for i, v := range x {
			r := math.RoundToEven(float64(v/scale)) + float64(zero)
			switch {
			case !(r > float64(lo)):
				dst[i] = T(lo)
			case r > float64(hi):
				dst[i] = T(hi)
			default:
				dst[i] = T(int(r))
			}
		}
		return
	}
	below, above := float32(least), float32(most)
	done := 0
	if unsafe.Sizeof(T(0)) == 1 {
		done = quantizeStart(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst)), x, &quantum{scale, reciprocal(scale), below, above, int32(zero)})
	}
	for i, v := range x[done:] {
		i += done
		dst[i] = T(int(toEven(v/scale, below, above)) + zero)
	}
}

// exactFloat is the bound for results x of [toEven]: −exactFloat ≤ x < exactFloat.
const exactFloat = 1 << 22

// toEven clamps v to [lo, hi] and rounds it to the nearest integer, ties to even. NaN becomes lo.
// lo and hi must be integers with −exactFloat ≤ lo ≤ hi < exactFloat.
func toEven(v, lo, hi float32) int32 {
	const shift = 3 << 22 // float32s of this size are 1 apart
	if !(v > lo) {
		v = lo
	}
	if v > hi {
		v = hi
	}
	return int32(math.Float32bits(v+shift)&(1<<23-1)) - exactFloat
}

// DequantizeScalar is [Dequantize] with one scale and one zero point.
func DequantizeScalar[T Quantized](dst []float32, x []T, scale float32, zero int) {
	x = trim(x, len(dst))
	done := 0
	if unsafe.Sizeof(T(0)) == 1 && zero == int(int32(zero)) {
		done = dequantizeStart(dst, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)), T(0)-1 < 0, &quantum{scale: scale, zero: int32(zero)})
	}
	dst = dst[done:]
	for i, v := range x[done:] {
		dst[i] = float32(int64(v)-int64(zero)) * scale
	}
}

// quantizeStart quantises the first elements with assembly and returns their number.
func quantizeStart(dst []byte, x []float32, q *quantum) (done int) {
	for n := len(x) &^ 15; done < n; {
		part := min(n-done, atOnce&^15)
		if !quantizeBytes(dst[done:], x[done:][:part], q) {
			break
		}
		done += part
	}
	return done
}

// dequantizeStart dequantises the first elements with assembly and returns their number.
func dequantizeStart(dst []float32, x []byte, signed bool, q *quantum) (done int) {
	for n := len(x) &^ 15; done < n; {
		part := min(n-done, atOnce&^15)
		if !dequantizeBytes(dst[done:], x[done:][:part], signed, q) {
			break
		}
		done += part
	}
	return done
}

// quantum describes the quantisation of floats to bytes.
type quantum struct {
	scale, times float32 // times is the reciprocal of scale
	lo, hi       float32 // bounds of the quotient, before zero is added
	zero         int32
}

// reciprocal returns 1/scale, or NaN unless 2⁻¹⁰⁰ < |scale| < 2¹⁰⁰. The caller multiplies by it
// instead of dividing where the last bits of the quotient do not matter.
func reciprocal(scale float32) float32 {
	if s := max(scale, -scale); s > 0x1p-100 && s < 0x1p100 {
		return 1 / scale
	}
	return float32(math.NaN())
}
