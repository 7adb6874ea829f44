package cpu

import "math"

// Clip clamps each element to [lo, hi] (ONNX Clip). NaN stays NaN. If lo > hi, the result is hi.
func Clip[T Number](dst, x []T, lo, hi T) {
	if d, u, ok := float32s1(dst, x); ok && clipFast(d, u, float32(lo), float32(hi)) {
		return
	}
	each(dst, x, func(v T) T { return limit(v, lo, hi) })
}

// limit returns v clamped to [lo, hi], or hi if lo > hi. NaN stays NaN.
func limit[T Number](v, lo, hi T) T {
	if lo > v {
		v = lo
	}
	if hi < v {
		v = hi
	}
	return v
}

// Relu computes dst[i] = max(x[i], 0) (ONNX Relu). Zeros and NaN do not change.
func Relu[T Number](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && reluFast(d, u) {
		return
	}
	each(dst, x, func(v T) T {
		if v < 0 {
			return 0
		}
		return v
	})
}

// LeakyRelu computes dst[i] = x[i] if x[i] ≥ 0, and otherwise alpha·x[i] (ONNX LeakyRelu).
func LeakyRelu[T Float](dst, x []T, alpha T) {
	PReluScalar(dst, x, alpha)
}

// ThresholdedRelu computes dst[i] = x[i] if x[i] > alpha, and otherwise 0 (ONNX ThresholdedRelu).
func ThresholdedRelu[T Float](dst, x []T, alpha T) {
	if d, u, ok := float32s1(dst, x); ok && thresholdedReluFast(d, u, float32(alpha)) {
		return
	}
	each(dst, x, func(v T) T {
		if v > alpha {
			return v
		}
		return 0
	})
}

// Shrink moves elements toward 0 by bias: dst[i] = x[i] + bias if x[i] < −lambda, and x[i] − bias
// if x[i] > lambda. Otherwise dst[i] = 0, also for NaN (ONNX Shrink).
func Shrink[T Number](dst, x []T, bias, lambda T) {
	each(dst, x, func(v T) T {
		switch {
		case v < T(0)-lambda:
			return v + bias
		case v > lambda:
			return v - bias
		}
		return 0
	})
}

// Elu computes dst[i] = x[i] if x[i] ≥ 0, and otherwise alpha·(exp(x[i]) − 1) (ONNX Elu).
func Elu[T Float](dst, x []T, alpha T) {
	Selu(dst, x, alpha, 1)
}

// Selu computes dst[i] = gamma·x[i] if x[i] ≥ 0, and otherwise gamma·alpha·(exp(x[i]) − 1) (ONNX
// Selu). For float32 its error is within 4 ulp.
func Selu[T Float](dst, x []T, alpha, gamma T) {
	negative := T(alpha * gamma)
	if d, u, ok := float32s1(dst, x); ok {
		if n, p := float32(negative), float32(gamma); !seluFast(d, u, n, p) {
			each(d, u, func(v float32) float32 { return selu32(v, n, p) })
		}
		return
	}
	each(dst, x, func(v T) T {
		if v < 0 {
			return negative * T(math.Expm1(float64(v)))
		}
		return gamma * v
	})
}

// Celu computes dst[i] = x[i] if x[i] ≥ 0, and otherwise alpha·(exp(x[i]/alpha) − 1) (ONNX Celu).
// Its error is within 4 ulp.
func Celu[T Float](dst, x []T, alpha T) {
	if d, u, ok := float32s1(dst, x); ok && alpha > 0 && celuFast(d, u, float32(alpha)) {
		return
	}
	each(dst, x, func(v T) T {
		if v < 0 {
			return T(float64(alpha) * math.Expm1(float64(v)/float64(alpha)))
		}
		return v
	})
}

// Sigmoid computes dst[i] = 1/(1 + exp(−x[i])) (ONNX Sigmoid). Its error is within 4 ulp.
func Sigmoid[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok {
		if !sigmoidFast(d, u) {
			each(d, u, sigmoid32)
		}
		return
	}
	each(dst, x, func(v T) T { return T(logistic(float64(v))) })
}

func logistic(v float64) float64 {
	return 1 / (1 + math.Exp(-v))
}

// Swish computes dst[i] = x[i]·sigmoid(alpha·x[i]) (ONNX Swish). With alpha 1 it is also called SiLU.
// Its error is within 4 ulp plus the rounding error of alpha·x[i].
func Swish[T Float](dst, x []T, alpha T) {
	if d, u, ok := float32s1(dst, x); ok {
		if a := float32(alpha); !swishFast(d, u, a) {
			each(d, u, func(v float32) float32 { return swish32(v, a*v) })
		}
		return
	}
	each(dst, x, func(v T) T { return T(float64(v) * logistic(float64(T(alpha*v)))) })
}

// HardSigmoid computes dst[i] = alpha·x[i] + beta, clamped to [0, 1] (ONNX HardSigmoid). The product
// is rounded before beta is added.
func HardSigmoid[T Float](dst, x []T, alpha, beta T) {
	if d, u, ok := float32s1(dst, x); ok && hardSigmoidFast(d, u, float32(alpha), float32(beta)) {
		return
	}
	each(dst, x, func(v T) T { return limit(T(alpha*v)+beta, 0, 1) })
}

// HardSwish computes dst[i] = x[i]·h, where h is x[i]/6 + 1/2 clamped to [0, 1] (ONNX HardSwish).
// x[i]/6 is computed as x[i]·(1/6), and each operation is rounded.
func HardSwish[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && hardSwishFast(d, u, 1.0/6, 0.5) {
		return
	}
	sixth := T(1) / 6
	each(dst, x, func(v T) T { return v * limit(T(sixth*v)+0.5, 0, 1) })
}

// Softplus computes dst[i] = log(1 + exp(x[i])) (ONNX Softplus). Its error is within 4 ulp.
func Softplus[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && softplusFast(d, u) {
		return
	}
	each(dst, x, func(v T) T {
		return T(max(float64(v), 0) + math.Log1p(math.Exp(-math.Abs(float64(v)))))
	})
}

// Softsign computes dst[i] = x[i] / (1 + |x[i]|) (ONNX Softsign). Its error is within 2 ulp.
func Softsign[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok && softsignFast(d, u) {
		return
	}
	each(dst, x, func(v T) T { return T(float64(v) / (1 + math.Abs(float64(v)))) })
}

// Mish computes dst[i] = x[i]·tanh(log(1 + exp(x[i]))) (ONNX Mish). Its error is within 6 ulp.
func Mish[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok {
		if !mishFast(d, u) {
			each(d, u, mish32)
		}
		return
	}
	each(dst, x, func(v T) T { return T(mish(float64(v))) })
}

// mish returns v·tanh(log(1 + e)) with e = exp(v). It computes the factor tanh(log(1 + e)) as e(e +
// 2)/(e(e + 2) + 2). In float64, the factor is 1 for v ≥ 20.
func mish(v float64) float64 {
	e := math.Exp(min(v, 20))
	n := e * (e + 2)
	return v * (n / (n + 2))
}

// Gelu computes dst[i] = x[i]·(1 + erf(x[i]/√2))/2 (ONNX Gelu). Its error is within 4 ulp if x[i]
// is not negative. For a negative x[i], 1 + erf(…) cancels, and the error is at most |x[i]|·2⁻²².
func Gelu[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok {
		if !geluFast(d, u) {
			each(d, u, gelu32)
		}
		return
	}
	each(dst, x, func(v T) T { return T(gelu(float64(v))) })
}

// gelu returns v·Φ(v), where Φ is the normal distribution function.
func gelu(v float64) float64 {
	return v * (0.5 * math.Erfc(-v*(1/math.Sqrt2)))
}

// GeluTanh computes dst[i] = x[i]·(1 + tanh(√(2/π)·(x[i] + 0.044715·x[i]³)))/2
// (ONNX Gelu with approximate="tanh").
func GeluTanh[T Float](dst, x []T) {
	if d, u, ok := float32s1(dst, x); ok {
		if !geluTanhFast(d, u) {
			each(d, u, geluTanh32)
		}
		return
	}
	each(dst, x, func(v T) T {
		u := float64(v)
		return T(u * logistic(2*math.Sqrt(2/math.Pi)*float64(u+0.044715*float64(u*u*u))))
	})
}
