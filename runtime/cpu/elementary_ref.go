package cpu

import "math"

// The elementary functions of float32 in plain Go: polynomials in float64, whose
// products are rounded before they are added, so that every platform computes the
// same bits. The polynomials are those of the assembly. Before it is rounded to
// float32 a result is within 2e-8 of the true one, relative to that, or to x for
// the Gelus.

var (
	// expTail is (e^r − 1 − r)/r² for |r| ≤ ln2/2.
	expTail = [...]float64{4.999999955e-01, 1.666657628e-01, 4.166685552e-02, 8.363312736e-03, 1.390135566e-03}
	// erfcLog is −log(erfc(a))/a for 0 ≤ a ≤ 4.
	erfcLog = [...]float64{
		1.128379171e+00, 6.366194077e-01, 1.027776343e-01, -1.915241352e-02, -1.615036792e-04,
		1.668065629e-03, -6.333753084e-04, 1.177854384e-04, -9.271747055e-06,
	}
	// logTail is (log(1 + f) − f + f²/2)/f³ for √½ ≤ 1 + f ≤ √2.
	logTail = [...]float64{
		3.333332994e-01, -2.500030392e-01, 2.000120095e-01, -1.664158152e-01,
		1.420994636e-01, -1.298927820e-01, 1.265569256e-01, -7.974204303e-02,
	}
)

// polynomial is c[0] + c[1]·x + c[2]·x² + ….
func polynomial(x float64, c []float64) float64 {
	p := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		p = float64(p*x) + c[i]
	}
	return p
}

// expParts returns q and s, a power of 2, with e^x = s + s·q. It limits x to ±200,
// where a float32 has long overflown or vanished.
func expParts(x float64) (q, s float64) {
	x = limit(x, -200, 200)
	n := int(x*math.Log2E+1024.5) - 1024 // rounded
	r := x - float64(float64(n)*math.Ln2)
	q = r + float64(float64(r*r)*polynomial(r, expTail[:]))
	return q, math.Float64frombits(uint64(n+1023) << 52)
}

// exp64 is e^x.
func exp64(x float64) float64 {
	q, s := expParts(x)
	return s + float64(s*q)
}

// expm164 is e^x − 1.
func expm164(x float64) float64 {
	q, s := expParts(x)
	return float64(s*q) + (s - 1)
}

// erf64 is the error function.
func erf64(x float64) float64 {
	a := limit(math.Abs(x), 0, 4)
	if a == 4 {
		return math.Copysign(1, x)
	}
	return math.Copysign(expm164(-a*polynomial(a, erfcLog[:])), x)
}

// gate is 1/(1 + e^−x).
func gate(x float64) float64 { return 1 / (1 + exp64(-x)) }

func exp32(x float32) float32     { return float32(exp64(float64(x))) }
func erf32(x float32) float32     { return float32(erf64(float64(x))) }
func sigmoid32(x float32) float32 { return float32(gate(float64(x))) }

func tanh32(x float32) float32 {
	m := expm164(2 * math.Abs(float64(x)))
	return float32(math.Copysign(m/(m+2), float64(x)))
}

func gelu32(x float32) float32 {
	return float32(float64(x) * (0.5 + float64(0.5*erf64(float64(x)*(1/math.Sqrt2)))))
}

// geluTanh32 is x times the gate of 2√(2/π)·(x + 0.044715·x³).
func geluTanh32(x float32) float32 {
	const twice = 1.5957691216057308 // 2√(2/π)
	v := float64(x)
	return float32(v * gate(v*(twice+float64(twice*0.044715*float64(v*v)))))
}

// mish32 is x·tanh(log(1 + e^x)). With e = e^x the tangent is e(e + 2)/(e(e + 2) + 2).
func mish32(x float32) float32 {
	e := exp64(limit(float64(x), -200, 20))
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
	tail := float64(f*f) * (float64(f*polynomial(f, logTail[:])) - 0.5)
	return float32(float64(float64(n)*math.Ln2) + (f + tail))
}
