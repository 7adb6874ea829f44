package cpu

import (
	"math"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// Stored is the constraint of float types that kernels cannot compute with directly. Kernels
// convert them to float32.
type Stored interface {
	rt.Float16 | rt.BFloat16 |
		rt.Float8E4M3FN | rt.Float8E4M3FNUZ | rt.Float8E5M2 | rt.Float8E5M2FNUZ | rt.Float8E8M0 | rt.Float4E2M1
}

// Real is the constraint of all numeric elements.
type Real interface {
	Number | Stored
}

// Cast converts elements (ONNX Cast). Integers wrap to the width of D. Floats round once: up if D
// is Float8E8M0, otherwise to nearest, ties to even. A float beyond the largest finite number
// becomes infinite, or this number if D has at most 8 bits.
//
// A float is truncated to become an integer. If the result does not fit, it is what the
// instructions of amd64 give. If D is int32 or narrower, NaN and numbers outside int32 become the
// smallest int32; a narrower D keeps its low bits. If D is int64 or uint32, NaN and numbers outside
// int64 become the smallest int64; uint32 keeps its low bits. uint64 accepts 0…2⁶⁴−1, and converts
// negative numbers as int64 does.
func Cast[D, S Real](dst []D, src []S) {
	src = trim(src, len(dst))
	done := convertFast(dst, src)
	dst, src = dst[done:], src[done:]
	switch {
	case stored[S]() || stored[D]():
		var room [256]float32
		for i := 0; i < len(dst); i += len(room) {
			part := room[:min(len(room), len(dst)-i)]
			widen(part, src[i:])
			narrow(dst[i:][:len(part)], part, true)
		}
	case isFloat[S]() && !isFloat[D]():
		for i, v := range src {
			dst[i] = truncated[D](float64(v))
		}
	default:
		for i, v := range src {
			dst[i] = D(v)
		}
	}
}

// CastUnsaturated is [Cast] to 8-bit floats with saturate=0. A number beyond the largest finite
// number of D becomes infinite, or NaN if D has no infinity.
func CastUnsaturated[D Stored, S Real](dst []D, src []S) {
	src = trim(src, len(dst))
	var room [256]float32
	for i := 0; i < len(dst); i += len(room) {
		part := room[:min(len(room), len(dst)-i)]
		widen(part, src[i:])
		narrow(dst[i:][:len(part)], part, false)
	}
}

// CastE8M0 converts elements to powers of two, as [rt.ToFloat8E8M0] does (ONNX Cast with saturate and
// round_mode).
func CastE8M0[S Real](dst []rt.Float8E8M0, src []S, saturate bool, mode rt.RoundMode) {
	src = trim(src, len(dst))
	var room [256]float32
	for i := 0; i < len(dst); i += len(room) {
		part := room[:min(len(room), len(dst)-i)]
		widen(part, src[i:])
		each(dst[i:][:len(part)], part, func(v float32) rt.Float8E8M0 { return rt.ToFloat8E8M0(v, saturate, mode) })
	}
}

// CastFromBool converts false to 0 and true to 1 (ONNX Cast).
func CastFromBool[D Real](dst []D, src []bool) {
	src = trim(src, len(dst))
	done := convertFast(dst, src)
	dst, src = dst[done:], src[done:]
	var bits [2]D
	Cast(bits[:], []float32{0, 1})
	for i, v := range src {
		dst[i] = pick(v, bits[1], bits[0])
	}
}

// CastToBool reports which elements are not zero: dst[i] = (src[i] ≠ 0) (ONNX Cast). NaN becomes
// true, and −0 becomes false.
func CastToBool[S Real](dst []bool, src []S) {
	src = trim(src, len(dst))
	if !stored[S]() {
		for i := compareScalar(dst, src, 0, unequal, 2); i < len(dst); i++ {
			dst[i] = src[i] != 0
		}
		return
	}
	var room [256]float32
	for i := 0; i < len(dst); i += len(room) {
		part := room[:min(len(room), len(dst)-i)]
		widen(part, src[i:])
		each(dst[i:][:len(part)], part, func(v float32) bool { return v != 0 })
	}
}

func stored[T Real]() bool {
	switch any(T(0)).(type) {
	case int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64:
		return false
	}
	return true
}

// widen converts elements to float32. Elements of the [Stored] types are converted exactly. Other
// numbers are rounded to odd, so that a later rounding to a narrower type gives the same result as
// rounding once.
func widen[S Real](dst []float32, src []S) {
	switch s := any(src).(type) {
	case []rt.Float16:
		each(dst, s, rt.Float16.Float32)
	case []rt.BFloat16:
		each(dst, s, rt.BFloat16.Float32)
	case []rt.Float8E4M3FN:
		each(dst, s, rt.Float8E4M3FN.Float32)
	case []rt.Float8E4M3FNUZ:
		each(dst, s, rt.Float8E4M3FNUZ.Float32)
	case []rt.Float8E5M2:
		each(dst, s, rt.Float8E5M2.Float32)
	case []rt.Float8E5M2FNUZ:
		each(dst, s, rt.Float8E5M2FNUZ.Float32)
	case []rt.Float8E8M0:
		each(dst, s, rt.Float8E8M0.Float32)
	case []rt.Float4E2M1:
		each(dst, s, rt.Float4E2M1.Float32)
	default:
		each(dst, src, func(v S) float32 { return rt.RoundToOdd(float64(v)) })
	}
}

// narrow converts elements from float32. It converts as [Cast] does if saturate is true, and
// otherwise as [CastUnsaturated] does.
func narrow[D Real](dst []D, src []float32, saturate bool) {
	switch d := any(dst).(type) {
	case []rt.Float16:
		each(d, src, rt.ToFloat16)
	case []rt.BFloat16:
		each(d, src, rt.ToBFloat16)
	case []rt.Float8E4M3FN:
		each(d, src, func(v float32) rt.Float8E4M3FN { return rt.ToFloat8E4M3FN(v, saturate) })
	case []rt.Float8E4M3FNUZ:
		each(d, src, func(v float32) rt.Float8E4M3FNUZ { return rt.ToFloat8E4M3FNUZ(v, saturate) })
	case []rt.Float8E5M2:
		each(d, src, func(v float32) rt.Float8E5M2 { return rt.ToFloat8E5M2(v, saturate) })
	case []rt.Float8E5M2FNUZ:
		each(d, src, func(v float32) rt.Float8E5M2FNUZ { return rt.ToFloat8E5M2FNUZ(v, saturate) })
	case []rt.Float8E8M0:
		each(d, src, func(v float32) rt.Float8E8M0 { return rt.ToFloat8E8M0(v, saturate, rt.RoundUp) })
	case []rt.Float4E2M1:
		each(d, src, rt.ToFloat4E2M1)
	default:
		Cast(dst, src)
	}
}

// truncated returns the integer part of v as [Cast] does.
func truncated[D Real](v float64) D {
	unsigned := D(0)-1 > 0
	switch size := unsafe.Sizeof(D(0)); {
	case size == 8 && unsigned && v >= 1<<63:
		return D(uint64(toInt64(v-1<<63)) ^ 1<<63)
	case size == 8, size == 4 && unsigned:
		return D(toInt64(v))
	}
	return D(toInt32(v))
}

// toInt64 truncates v. A number that does not fit becomes the smallest int64.
func toInt64(v float64) int64 {
	if v >= -1<<63 && v < 1<<63 {
		return int64(v)
	}
	return math.MinInt64
}

// toInt32 truncates v. A number that does not fit becomes the smallest int32.
func toInt32(v float64) int32 {
	if v > -1<<31-1 && v < 1<<31 {
		return int32(v)
	}
	return math.MinInt32
}
