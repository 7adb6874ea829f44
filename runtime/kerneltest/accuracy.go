package kerneltest

import "math"

// Accuracy says how precisely a target divides and takes roots in f32, and which numbers it may flush to zero. The
// specification of the target promises these bounds. The zero value is the arithmetic of IEEE 754.
type Accuracy struct {
	// Division is the error of a quotient in units in the last place, in addition to the half unit of correct
	// rounding. If it is above 0, nothing is promised for divisors outside of 2⁻¹²⁶ to 2¹²⁶.
	Division float64
	// Root is the error of a square root in units in the last place, in addition to the half unit of correct
	// rounding.
	Root float64
	// Flushes says that a zero may replace every number below 2⁻¹²⁶: an operand, a result, or an intermediate
	// result.
	Flushes bool
}

// normal is the smallest positive normal float32.
const normal = 0x1p-126

// small reports whether x is a subnormal number of f32.
func small(x float64) bool { return x != 0 && math.Abs(x) < normal }

// readings returns the numbers that a kernel may read when it reads x: x itself and, if the target may flush x, zero.
func (a Accuracy) readings(x float64) []float64 {
	if a.Flushes && small(x) {
		return []float64{x, math.Copysign(0, x)}
	}
	return []float64{x}
}

// promised reports whether the target bounds the error of a quotient with divisor y.
func (a Accuracy) promised(y float64) bool {
	size := math.Abs(y)
	return a.Division == 0 || !(size > 0 && size < normal || size > 0x1p126 && size <= math.MaxFloat64)
}

// corrected is the largest error, in units in the last place, of a quotient or a root after the kernel has
// corrected it by the remainder. It is a little above half a unit, because the remainder is rounded.
const corrected = 0.5 + 0x1p-18

// correctable reports whether a kernel can correct a quotient or root by its remainder. values are the operands and
// the result: all must be between 2⁻¹⁰⁰ and 2¹⁰⁰ in magnitude.
func correctable(values ...float64) bool {
	for _, v := range values {
		if size := math.Abs(v); !(size > 0x1p-100 && size < 0x1p100) {
			return false
		}
	}
	return true
}

// accepts reports whether got is close enough to f(x) or, if the target may flush x to zero, to f(0). The error may
// be `ulp` units in the last place plus `room`, and plus steps·2⁻¹²⁶ if the target flushes: an intermediate result
// that is flushed is wrong by up to 2⁻¹²⁶, and the kernel multiplies it by at most `steps`.
func (a Accuracy) accepts(got float32, f func(float64) float64, x, ulp, room, steps float64) bool {
	if a.Flushes {
		room += steps * normal
	}
	for _, y := range a.readings(x) {
		if within(got, f(y), ulp, room) {
			return true
		}
	}
	return false
}

// acceptsBinary reports whether got is f(x, y). If the target flushes, each of x and y may be replaced by zero before
// f is computed.
//
// If `divides` is true, f is a quotient. A quotient that the kernel does not correct may have the error Division.
// Every quotient is accepted if nothing is promised for divisor y.
//
// If the target flushes and x, y or f(x, y) is small, all results below 2⁻¹²⁶ in magnitude count as equal. The reason
// is that a kernel may compare a number as zero and still return it unchanged.
func (a Accuracy) acceptsBinary(got float32, f func(x, y float32) float32, x, y float32, divides bool) bool {
	if divides && !a.promised(float64(y)) {
		return true
	}
	for _, p := range a.readings(float64(x)) {
		for _, q := range a.readings(float64(y)) {
			want := f(float32(p), float32(q))
			switch {
			case math.Float32bits(got) == math.Float32bits(want), got != got && want != want:
				return true
			case a.Flushes && (small(float64(x)) || small(float64(y)) || small(float64(want))) &&
				math.Abs(float64(got)) < normal && math.Abs(float64(want)) < normal:
				return true
			case divides && a.Division > 0:
				ulp := 0.5 + a.Division
				if correctable(p, q, p/q) {
					ulp = corrected
				}
				if within(got, p/q, ulp, 0) {
					return true
				}
			}
		}
	}
	return false
}
