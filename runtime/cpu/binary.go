package cpu

import (
	"errors"
	"math"
	"unsafe"
)

// The kernels of this file take slices of equal length; dst may be the same slice as an operand. In a
// form with Scalar in its name, one operand is the same for every element; the order in the name is
// that of the operands. Integers wrap. Add, Sub, Mul and Div of floats are IEEE operations: they are correctly
// rounded and give the same bits on every platform.

// ErrDivideByZero is returned by integer division and remainder.
var ErrDivideByZero = errors.New("cpu: integer division by zero")

// Add computes dst[i] = a[i] + b[i] (ONNX Add).
func Add[T Number](dst, a, b []T) {
	if d, u, v, ok := float32s2(dst, a, b); ok && addFast(d, u, v) {
		return
	}
	zip(dst, a, b, func(x, y T) T { return x + y })
}

// AddScalar computes dst[i] = a[i] + b.
func AddScalar[T Number](dst, a []T, b T) {
	if d, u, ok := float32s1(dst, a); ok && addScalarFast(d, u, float32(b)) {
		return
	}
	each(dst, a, func(x T) T { return x + b })
}

// Sub computes dst[i] = a[i] − b[i] (ONNX Sub).
func Sub[T Number](dst, a, b []T) {
	if d, u, v, ok := float32s2(dst, a, b); ok && subFast(d, u, v) {
		return
	}
	zip(dst, a, b, func(x, y T) T { return x - y })
}

// SubScalar computes dst[i] = a[i] − b.
func SubScalar[T Number](dst, a []T, b T) {
	if d, u, ok := float32s1(dst, a); ok && subScalarFast(d, u, float32(b)) {
		return
	}
	each(dst, a, func(x T) T { return x - b })
}

// ScalarSub computes dst[i] = a − b[i].
func ScalarSub[T Number](dst []T, a T, b []T) {
	if d, u, ok := float32s1(dst, b); ok && scalarSubFast(d, u, float32(a)) {
		return
	}
	each(dst, b, func(y T) T { return a - y })
}

// Mul computes dst[i] = a[i]·b[i] (ONNX Mul).
func Mul[T Number](dst, a, b []T) {
	if d, u, v, ok := float32s2(dst, a, b); ok && mulFast(d, u, v) {
		return
	}
	zip(dst, a, b, func(x, y T) T { return x * y })
}

// MulScalar computes dst[i] = a[i]·b.
func MulScalar[T Number](dst, a []T, b T) {
	if d, u, ok := float32s1(dst, a); ok && mulScalarFast(d, u, float32(b)) {
		return
	}
	each(dst, a, func(x T) T { return x * b })
}

// Div computes dst[i] = a[i] / b[i] (ONNX Div on floats).
func Div[T Float](dst, a, b []T) {
	if d, u, v, ok := float32s2(dst, a, b); ok && divFast(d, u, v) {
		return
	}
	zip(dst, a, b, func(x, y T) T { return x / y })
}

// DivScalar computes dst[i] = a[i] / b.
func DivScalar[T Float](dst, a []T, b T) {
	if d, u, ok := float32s1(dst, a); ok && divScalarFast(d, u, float32(b)) {
		return
	}
	each(dst, a, func(x T) T { return x / b })
}

// ScalarDiv computes dst[i] = a / b[i].
func ScalarDiv[T Float](dst []T, a T, b []T) {
	if d, u, ok := float32s1(dst, b); ok && scalarDivFast(d, u, float32(a)) {
		return
	}
	each(dst, b, func(y T) T { return a / y })
}

// Min computes dst[i] = min(a[i], b[i]) (ONNX Min). If an operand is NaN, the result is NaN. If
// both operands are zeros of any sign, the result is b[i].
func Min[T Number](dst, a, b []T) {
	if d, u, v, ok := float32s2(dst, a, b); ok && minFast(d, u, v) {
		return
	}
	zip(dst, a, b, lesser[T])
}

// MinScalar computes dst[i] = min(a[i], b), like [Min].
func MinScalar[T Number](dst, a []T, b T) {
	if d, u, ok := float32s1(dst, a); ok && minScalarFast(d, u, float32(b)) {
		return
	}
	each(dst, a, func(x T) T { return lesser(x, b) })
}

// Max computes dst[i] = max(a[i], b[i]) (ONNX Max). If an operand is NaN, the result is NaN. If
// both operands are zeros of any sign, the result is b[i].
func Max[T Number](dst, a, b []T) {
	if d, u, v, ok := float32s2(dst, a, b); ok && maxFast(d, u, v) {
		return
	}
	zip(dst, a, b, greater[T])
}

// MaxScalar computes dst[i] = max(a[i], b), like [Max].
func MaxScalar[T Number](dst, a []T, b T) {
	if d, u, ok := float32s1(dst, a); ok && maxScalarFast(d, u, float32(b)) {
		return
	}
	each(dst, a, func(x T) T { return greater(x, b) })
}

// lesser returns min(x, y) as [Min] defines it.
func lesser[T Number](x, y T) T {
	if x < y || x != x {
		return x
	}
	return y
}

// greater returns max(x, y) as [Max] defines it.
func greater[T Number](x, y T) T {
	if x > y || x != x {
		return x
	}
	return y
}

// Gate computes the gradient of a Relu: dst[i] = g[i] if y[i] > 0, and otherwise 0. y is the result
// of the Relu, and g is its upstream gradient.
func Gate[T Number](dst, g, y []T) {
	if d, u, v, ok := float32s2(dst, g, y); ok && gateFast(d, u, v) {
		return
	}
	zip(dst, g, y, func(g, y T) T {
		if y > 0 {
			return g
		}
		return 0
	})
}

// PRelu computes dst[i] = x[i] if x[i] ≥ 0, and otherwise slope[i]·x[i] (ONNX PRelu).
func PRelu[T Number](dst, x, slope []T) {
	if d, u, v, ok := float32s2(dst, x, slope); ok && pReluFast(d, u, v) {
		return
	}
	zip(dst, x, slope, func(v, s T) T {
		if v < 0 {
			return v * s
		}
		return v
	})
}

// PReluScalar computes dst[i] = x[i] if x[i] ≥ 0, and otherwise slope·x[i]. It is [LeakyRelu] for
// all numeric types.
func PReluScalar[T Number](dst, x []T, slope T) {
	if d, u, ok := float32s1(dst, x); ok && leakyReluFast(d, u, float32(slope)) {
		return
	}
	each(dst, x, func(v T) T {
		if v < 0 {
			return v * slope
		}
		return v
	})
}

// Pow computes dst[i] = a[i] to the power b[i] (ONNX Pow on floats). Its error is within 1 ulp.
func Pow[T Float](dst, a, b []T) {
	if d, u, v, ok := float32s2(dst, a, b); ok && powers(d, u, v) {
		return
	}
	zip(dst, a, b, func(x, y T) T { return T(math.Pow(float64(x), float64(y))) })
}

// PowScalar computes dst[i] = a[i] to the power b. For the exponents 2, 3 and −1 it uses products
// and quotients.
func PowScalar[T Float](dst, a []T, b T) {
	switch b {
	case 1:
		copy(dst, trim(a, len(dst)))
	case 2:
		Mul(dst, a, a)
	case 3:
		if d, u, ok := float32s1(dst, a); ok && cubeFast(d, u) {
			return
		}
		each(dst, a, func(x T) T { return T(float64(float64(x)*float64(x)) * float64(x)) })
	case -1:
		ScalarDiv(dst, 1, a)
	default:
		if d, u, ok := float32s1(dst, a); ok && powersScalar(d, u, float32(b)) {
			return
		}
		each(dst, a, func(x T) T { return T(math.Pow(float64(x), float64(b))) })
	}
}

// ScalarPow computes dst[i] = a to the power b[i].
func ScalarPow[T Float](dst []T, a T, b []T) {
	if d, v, ok := float32s1(dst, b); ok && scalarPowers(d, float32(a), v) {
		return
	}
	each(dst, b, func(y T) T { return T(math.Pow(float64(a), float64(y))) })
}

// PowInt computes dst[i] = a[i] to the power b[i], with wrapping (ONNX Pow on integers). A negative
// power of 1 or −1 is 1 or −1; a negative power of any other number is 0.
func PowInt[T Integer](dst, a, b []T) {
	zip(dst, a, b, power[T])
}

// PowIntScalar computes dst[i] = a[i] to the power b, as [PowInt] does.
func PowIntScalar[T Integer](dst, a []T, b T) {
	each(dst, a, func(x T) T { return power(x, b) })
}

// ScalarPowInt computes dst[i] = a to the power b[i], as [PowInt] does.
func ScalarPowInt[T Integer](dst []T, a T, b []T) {
	each(dst, b, func(y T) T { return power(a, y) })
}

// power returns x to the power n as [PowInt] defines it, by repeated squaring.
func power[T Integer](x, n T) T {
	if n < 0 {
		switch {
		case x == 1:
			return 1
		case x+1 == 0: // −1
			if n&1 == 0 {
				return 1
			}
			return x
		}
		return 0
	}
	p := T(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			p *= x
		}
		x *= x
	}
	return p
}

// Fmod computes the remainder of a[i] / b[i], with the quotient truncated toward zero (ONNX Mod
// with fmod=1 on floats, C fmod). The remainder has the sign of a[i].
func Fmod[T Float](dst, a, b []T) {
	zip(dst, a, b, fmod[T])
}

// FmodScalar sets dst[i] to the remainder of a[i] / b, as [Fmod] does.
func FmodScalar[T Float](dst, a []T, b T) {
	each(dst, a, func(x T) T { return fmod(x, b) })
}

// ScalarFmod sets dst[i] to the remainder of a / b[i], as [Fmod] does.
func ScalarFmod[T Float](dst []T, a T, b []T) {
	each(dst, b, func(y T) T { return fmod(a, y) })
}

// fmod implements [Fmod]. For float32 it computes in float64 if the quotient is below 2²⁸. The
// truncated quotient may be one too large. The remainder is then negative, and fmod adds |y|. The
// result is exact.
func fmod[T Float](x, y T) T {
	u, v := math.Abs(float64(x)), math.Abs(float64(y))
	if unsafe.Sizeof(x) == 8 || !(u < v*(1<<28)) || v > math.MaxFloat32 {
		return T(math.Mod(float64(x), float64(y)))
	}
	r := u - float64(float64(int64(u/v))*v)
	if r < 0 {
		r += v
	}
	return T(math.Copysign(r, float64(x)))
}

// DivInt computes the quotient dst[i] = a[i] / b[i], truncated toward zero (ONNX Div on integers).
// The smallest integer divided by −1 wraps to itself. DivInt returns [ErrDivideByZero] if an
// element of b is zero; dst is then undefined.
func DivInt[T Integer](dst, a, b []T) error {
	return zipInt(quotient, dst, a, b, func(x, y T) T { return x / y })
}

// DivIntScalar computes dst[i] = a[i] / b, as [DivInt] does.
func DivIntScalar[T Integer](dst, a []T, b T) error {
	return eachInt(quotient, dst, a, b, func(x, y T) T { return x / y })
}

// ScalarDivInt computes dst[i] = a / b[i], as [DivInt] does.
func ScalarDivInt[T Integer](dst []T, a T, b []T) error {
	return intEach(dst, a, b, func(x, y T) T { return x / y })
}

// Rem computes dst[i] = a[i] − b[i]·q, where q is a[i] / b[i] truncated toward zero. The remainder
// has the sign of a[i] (ONNX Mod with fmod=1 on integers). Rem returns the errors of [DivInt].
func Rem[T Integer](dst, a, b []T) error {
	return zipInt(remainder, dst, a, b, func(x, y T) T { return x % y })
}

// RemScalar sets dst[i] to the remainder of a[i] / b, as [Rem] does.
func RemScalar[T Integer](dst, a []T, b T) error {
	return eachInt(remainder, dst, a, b, func(x, y T) T { return x % y })
}

// ScalarRem sets dst[i] to the remainder of a / b[i], as [Rem] does.
func ScalarRem[T Integer](dst []T, a T, b []T) error {
	return intEach(dst, a, b, func(x, y T) T { return x % y })
}

// Mod computes dst[i] = a[i] − b[i]·⌊a[i] / b[i]⌋. The remainder has the sign of b[i] (ONNX Mod
// with fmod=0). Mod returns the errors of [DivInt].
func Mod[T Integer](dst, a, b []T) error {
	return zipInt(modulus, dst, a, b, floorMod[T])
}

// ModScalar sets dst[i] to the remainder of a[i] / b, as [Mod] does.
func ModScalar[T Integer](dst, a []T, b T) error {
	return eachInt(modulus, dst, a, b, floorMod[T])
}

// ScalarMod sets dst[i] to the remainder of a / b[i], as [Mod] does.
func ScalarMod[T Integer](dst []T, a T, b []T) error {
	return intEach(dst, a, b, floorMod[T])
}

// floorMod returns the remainder of x / y as [Mod] defines it.
func floorMod[T Integer](x, y T) T {
	r := x % y
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

type division int

const (
	quotient  division = iota // quotient, truncated
	remainder                 // remainder of the truncated quotient
	modulus                   // remainder of the quotient rounded down
)

// zipInt computes an integer division dst[i] = f(a[i], b[i]). kind selects the assembly that
// computes the same f. zipInt returns [ErrDivideByZero] if an element of b is zero.
func zipInt[T Integer](kind division, dst, a, b []T, f func(x, y T) T) error {
	a, b = trim(a, len(dst)), trim(b, len(dst))
	done, zero := quotients(kind, dst, a, b)
	if zero {
		return ErrDivideByZero
	}
	a, b, dst = a[done:], b[done:], dst[done:]
	for i := range dst {
		if b[i] == 0 {
			return ErrDivideByZero
		}
		dst[i] = f(a[i], b[i])
	}
	return nil
}

// eachInt is [zipInt] with the same divisor b for all elements.
func eachInt[T Integer](kind division, dst, a []T, b T, f func(x, y T) T) error {
	a = trim(a, len(dst))
	if b == 0 && len(dst) > 0 {
		return ErrDivideByZero
	}
	for i := quotientsScalar(kind, dst, a, b); i < len(dst); i++ {
		dst[i] = f(a[i], b)
	}
	return nil
}

// intEach is [zipInt] with the dividend a for all elements. It does not use assembly.
func intEach[T Integer](dst []T, a T, b []T, f func(x, y T) T) error {
	b = trim(b, len(dst))
	for i := range dst {
		if b[i] == 0 {
			return ErrDivideByZero
		}
		dst[i] = f(a, b[i])
	}
	return nil
}
