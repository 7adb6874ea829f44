package cpu

import (
	"math"
	"unsafe"
)

// The elementary functions of float32 in plain Go: polynomials in float64 whose products are rounded
// before they are added, so that every platform computes the same bits. Before rounding to float32 the
// relative error is within 2e-8; for the Gelus this is relative to x.

// horner returns p·x⁴ + c[3]·x³ + c[2]·x² + c[1]·x + c[0].
func horner(p, x float64, c *[4]float64) float64 {
	p = float64(p*x) + c[3]
	p = float64(p*x) + c[2]
	p = float64(p*x) + c[1]
	return float64(p*x) + c[0]
}

// expTail approximates (e^r − 1 − r)/r² for |r| ≤ ln2/2.
func expTail(r float64) float64 {
	return horner(1.390135566e-03, r, &[4]float64{4.999999955e-01, 1.666657628e-01, 4.166685552e-02, 8.363312736e-03})
}

// erfcLog approximates −log(erfc(a))/a for 0 ≤ a ≤ 4.
func erfcLog(a float64) float64 {
	p := horner(-9.271747055e-06, a, &[4]float64{-1.615036792e-04, 1.668065629e-03, -6.333753084e-04, 1.177854384e-04})
	return horner(p, a, &[4]float64{1.128379171e+00, 6.366194077e-01, 1.027776343e-01, -1.915241352e-02})
}

// logTail returns an approximation of (log(1 + f) − f + f²/2)/f³, for √½ ≤ 1 + f ≤ √2.
func logTail(f float64) float64 {
	p := horner(7.037678798e-02, f, &[4]float64{1.424932286e-01, -1.242014147e-01, 1.167699881e-01, -1.151460647e-01})
	return horner(p, f, &[4]float64{3.333333117e-01, -2.499999399e-01, 2.000071476e-01, -1.666805763e-01})
}

// expParts returns q and s with e^x = s + s·q, where s is a power of 2. It first clamps x to ±200.
// The exponential of ±200 is beyond the range of float32.
func expParts(x float64) (q, s float64) {
	x = limit(x, -200, 200)
	n := int(x*math.Log2E+1024.5) - 1024 // rounded
	r := x - float64(float64(n)*math.Ln2)
	q = r + float64(float64(r*r)*expTail(r))
	return q, math.Float64frombits(uint64(n+1023) << 52)
}

func exp64(x float64) float64 {
	q, s := expParts(x)
	return s + float64(s*q)
}

// expOf returns e^x. If T is float32, the result has the same bits on every platform.
func expOf[T Float](x T) float64 {
	if unsafe.Sizeof(x) == 4 {
		return exp64(float64(x))
	}
	return math.Exp(float64(x))
}

func expm164(x float64) float64 {
	q, s := expParts(x)
	return float64(s*q) + (s - 1)
}

// erf64 returns the error function of x.
func erf64(x float64) float64 {
	a := limit(math.Abs(x), 0, 4)
	if a == 4 {
		return math.Copysign(1, x)
	}
	return math.Copysign(expm164(-a*erfcLog(a)), x)
}

// gate returns the sigmoid of x, 1/(1 + e^−x). It is 0 for x ≤ −200.
func gate(x float64) float64 {
	if x <= -200 {
		return 0
	}
	return 1 / (1 + exp64(-x))
}

func exp32(x float32) float32     { return float32(exp64(float64(x))) }
func erf32(x float32) float32     { return float32(erf64(float64(x))) }
func sigmoid32(x float32) float32 { return float32(gate(float64(x))) }

func swish32(x, u float32) float32 { return float32(float64(x) * gate(float64(u))) }

func selu32(x, negative, positive float32) float32 {
	if x < 0 {
		return float32(float64(negative) * expm164(float64(x)))
	}
	return positive * x
}

func tanh32(x float32) float32 {
	m := expm164(2 * math.Abs(float64(x)))
	return float32(math.Copysign(m/(m+2), float64(x)))
}

func gelu32(x float32) float32 {
	return float32(float64(x) * (0.5 + float64(0.5*erf64(float64(x)*(1/math.Sqrt2)))))
}

// geluTanh32 returns x·sigmoid(2√(2/π)·(x + 0.044715·x³)).
func geluTanh32(x float32) float32 {
	const twice = 1.5957691216057308 // 2√(2/π)
	v := float64(x)
	return float32(v * gate(v*(twice+float64(twice*0.044715*float64(v*v)))))
}

// mish32 returns x·tanh(log(1 + e^x)). With e = exp(x), the factor tanh(log(1 + e)) is e(e +
// 2)/(e(e + 2) + 2).
func mish32(x float32) float32 {
	if x <= -200 {
		return x * 0
	}
	e := exp64(min(float64(x), 20))
	n := e * (e + 2)
	return float32(float64(x) * (n / (n + 2)))
}

func log32(x float32) float32 {
	switch {
	case x < 0:
		return float32(math.NaN())
	case x == 0:
		return float32(math.Inf(-1))
	case !(x <= math.MaxFloat32):
		return x
	}
	bits := math.Float64bits(float64(x))
	n := int64(bits-math.Float64bits(math.Sqrt2/2)) >> 52 // x = 2ⁿ·(1 + f)
	f := math.Float64frombits(bits-uint64(n)<<52) - 1
	tail := float64(f*f) * (float64(f*logTail(f)) - 0.5)
	return float32(float64(float64(n)*math.Ln2) + (f + tail))
}
