package cpu

import "math"

// The kernels of this file and of activation.go take slices of equal length; dst may be the same slice
// as x. If the doc of a float kernel does not mention its error, its result is the rounded float64
// result of package math. A bound in ulp holds for float32 and includes denormal results; NaN gives
// NaN.

// Neg computes dst[i] = −x[i] (ONNX Neg).
func Neg[T Signed | Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && negFast(d, u) {
		return
	}
	each(dst, x, func(v T) T { return -v })
}

// Abs computes dst[i] = |x[i]| (ONNX Abs). The smallest signed integer does not change, because its
// magnitude does not fit.
func Abs[T Number](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && absFast(d, u) {
		return
	}
	if isFloat[T]() {
		each(dst, x, func(v T) T { return T(math.Abs(float64(v))) })
		return
	}
	each(dst, x, func(v T) T {
		if v < 0 {
			return -v
		}
		return v
	})
}

// Sign sets dst[i] to −1, 0 or 1, the sign of x[i] (ONNX Sign). Zeros and NaN do not change.
func Sign[T Number](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && signFast(d, u) {
		return
	}
	each(dst, x, func(v T) T {
		switch {
		case v > 0:
			return 1
		case v < 0:
			return T(0) - 1
		}
		return v
	})
}

// Sqrt computes dst[i] = √x[i], correctly rounded (ONNX Sqrt).
func Sqrt[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && sqrtFast(d, u) {
		return
	}
	each(dst, x, func(v T) T { return T(math.Sqrt(float64(v))) })
}

// Reciprocal computes dst[i] = 1/x[i], correctly rounded (ONNX Reciprocal).
func Reciprocal[T Float](dst, x []T) {
	ScalarDiv(dst, 1, x)
}

// Floor computes dst[i] = x[i] rounded down (ONNX Floor).
func Floor[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && floorFast(d, u) {
		return
	}
	each(dst, x, func(v T) T { return T(math.Floor(float64(v))) })
}

// Ceil computes dst[i] = x[i] rounded up (ONNX Ceil).
func Ceil[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && ceilFast(d, u) {
		return
	}
	each(dst, x, func(v T) T { return T(math.Ceil(float64(v))) })
}

// Round rounds each element to the nearest integer, ties to even (ONNX Round).
func Round[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && roundFast(d, u) {
		return
	}
	each(dst, x, func(v T) T { return T(math.RoundToEven(float64(v))) })
}

// Exp computes dst[i] = e to the power x[i] (ONNX Exp). Its error is within 2 ulp.
func Exp[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok {
		if !expFast(d, u) {
			each(d, u, exp32)
		}
		return
	}
	each(dst, x, func(v T) T { return T(math.Exp(float64(v))) })
}

// Log computes the natural logarithm of x[i] (ONNX Log). Its error is within 2 ulp. The result is
// −Inf for zero, and NaN for negative numbers.
func Log[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok {
		if !logFast(d, u) {
			each(d, u, log32)
		}
		return
	}
	each(dst, x, func(v T) T { return T(math.Log(float64(v))) })
}

// Erf computes the error function of x[i] (ONNX Erf). Its error is within 4 ulp.
func Erf[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok {
		if !erfFast(d, u) {
			each(d, u, erf32)
		}
		return
	}
	each(dst, x, func(v T) T { return T(math.Erf(float64(v))) })
}

// Tanh computes the hyperbolic tangent of x[i] (ONNX Tanh). Its error is within 4 ulp.
func Tanh[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok {
		if !tanhFast(d, u) {
			each(d, u, tanh32)
		}
		return
	}
	each(dst, x, func(v T) T { return T(math.Tanh(float64(v))) })
}

// Sin computes the sine of x[i], which is in radians (ONNX Sin). Its error is within 2 ulp.
func Sin[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && sinAngles(d, u) {
		return
	}
	each(dst, x, func(v T) T { return T(math.Sin(float64(v))) })
}

// Cos computes the cosine of x[i], which is in radians (ONNX Cos). Its error is within 2 ulp.
func Cos[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && cosAngles(d, u) {
		return
	}
	each(dst, x, func(v T) T { return T(math.Cos(float64(v))) })
}

// Tan computes the tangent of x[i], which is in radians (ONNX Tan). Its error is within 2 ulp.
func Tan[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && tanAngles(d, u) {
		return
	}
	each(dst, x, func(v T) T { return T(math.Tan(float64(v))) })
}

// Asin computes the angle in radians whose sine is x[i] (ONNX Asin). Its error is within 2 ulp.
func Asin[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && asinFast(d, u) {
		return
	}
	each(dst, x, func(v T) T { return T(math.Asin(float64(v))) })
}

// Acos computes the angle in radians whose cosine is x[i] (ONNX Acos). Its error is within 2 ulp.
func Acos[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && acosFast(d, u) {
		return
	}
	each(dst, x, func(v T) T { return T(math.Acos(float64(v))) })
}

// Atan computes the angle in radians whose tangent is x[i] (ONNX Atan). Its error is within 2 ulp.
func Atan[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && atanFast(d, u) {
		return
	}
	each(dst, x, func(v T) T { return T(math.Atan(float64(v))) })
}

// Sinh computes the hyperbolic sine of x[i] (ONNX Sinh). Its error is within 2 ulp.
func Sinh[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && sinhFast(d, u) {
		return
	}
	each(dst, x, func(v T) T { return T(math.Sinh(float64(v))) })
}

// Cosh computes the hyperbolic cosine of x[i] (ONNX Cosh). Its error is within 2 ulp.
func Cosh[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && coshFast(d, u) {
		return
	}
	each(dst, x, func(v T) T { return T(math.Cosh(float64(v))) })
}

// Asinh computes the inverse hyperbolic sine of x[i] (ONNX Asinh). It uses [math.Asinh].
func Asinh[T Float](dst, x []T) {
	each(dst, x, func(v T) T { return T(math.Asinh(float64(v))) })
}

// Acosh computes the inverse hyperbolic cosine of x[i] (ONNX Acosh). It uses [math.Acosh]. The
// result is NaN if x[i] < 1.
func Acosh[T Float](dst, x []T) {
	each(dst, x, func(v T) T { return T(math.Acosh(float64(v))) })
}

// Atanh computes the inverse hyperbolic tangent of x[i] (ONNX Atanh). It uses [math.Atanh]. The
// result is NaN outside of [−1, 1].
func Atanh[T Float](dst, x []T) {
	each(dst, x, func(v T) T { return T(math.Atanh(float64(v))) })
}
