package main

import "math"

// The approximations were fitted for the smallest relative error in float64.

const (
	// expLeast is a lower bound for arguments: smaller arguments have an exponential that rounds to
	// 0 in float32.
	expLeast = -104
	// expMost is an upper bound for arguments: larger arguments have an exponential that overflows
	// float32.
	expMost = 89
)

var elementary = []pointwise{
	unary("exp", "exp(x[i])", func(k *vectors, x value) {
		k.atMost(x, k.pin(expMost))
		k.atLeast(x, k.pin(expLeast))
		k.exp(x)
	}),
	unary("log", "log(x[i])", func(k *vectors, x value) { k.log(x) }),
	unary("tanh", "tanh(x[i])", func(k *vectors, x value) { k.tanh(x) }),
	unary("erf", "erf(x[i])", func(k *vectors, x value) { k.erf(x) }),
}

var hyperbolic = []pointwise{
	unary("cosh", "cosh(x[i])", func(k *vectors, x value) {
		k.do("VANDPS", k.word(magnitude), x, x)
		e := k.halfExp(x)
		k.do("VMOVUPS", k.c(0.25), x)
		k.do("VDIVPS", e, x, x)
		k.do("VADDPS", e, x, x)
		k.free(e)
	}),
	unary("sinh", "sinh(x[i])", func(k *vectors, x value) {
		// With m = exp(a) − 1 it is (m + m/(m + 1))/2, and exp(a)/2 if a ≥ 12.
		a := k.temp()
		k.do("VANDPS", k.word(magnitude), x, a)
		e := k.halfExp(a)
		m, d := k.duplicate(a), k.temp()
		k.atMost(m, k.pin(12))
		k.expm1(m)
		k.do("VADDPS", k.c(1), m, d)
		k.do("VDIVPS", d, m, d)
		k.do("VADDPS", d, m, m)
		k.do("VMULPS", k.c(0.5), m, m)
		k.choose(k.compare(less, a, k.c(12)), m, e, m)
		k.do("VANDPS", k.word(signBit), x, x)
		k.do("VORPS", m, x, x)
		k.free(a, e, m, d)
	}),
}

// ln2 returns ln 2 as a sum. If products are rounded, the first part has 9 bits, so that its products with the
// exponents of float32 are exact.
func (k *vectors) ln2() (high, low float64) {
	if high = float64(float32(math.Ln2)); k.arch == "wasm" {
		high = 0.693359375
	}
	return high, math.Ln2 - high
}

// expm1Tail holds the coefficients of a polynomial in r. It approximates (exp(r) − 1 − r)/r² for
// |r| ≤ ln2/2, within 1.3e-7.
var expm1Tail = []float64{4.999999955e-01, 1.666657628e-01, 4.166685552e-02, 8.363312736e-03, 1.390135566e-03}

// reduce splits the exponential of x: exp(x) = 2ⁿ·(1 + r). It returns n, the integer nearest to
// x/ln2, as a float, and replaces x by r.
func (k *vectors) reduce(x value) (n value) {
	n, p := k.temp(), k.temp()
	k.do("VMULPS", k.c(math.Log2E), x, n)
	k.round(nearestEven, n, n)
	high, low := k.ln2()
	k.do("VFNMADD231PS", k.c(high), n, x)
	k.do("VFNMADD231PS", k.c(low), n, x)
	k.polynomial(p, x, expm1Tail)
	square := k.temp()
	k.do("VMULPS", x, x, square)
	k.do("VFMADD231PS", square, p, x)
	k.free(p, square)
	return n
}

// polynomial computes p, a polynomial of x. The coefficients begin with the constant term.
func (k *vectors) polynomial(p, x value, coefficients []float64) {
	last := len(coefficients) - 1
	if k.arch == "arm64" {
		k.takeTurns(p, x, coefficients)
		return
	}
	k.do("VMOVUPS", k.c(coefficients[last]), p)
	for i := last - 1; i >= 0; i-- {
		k.do("VFMADD213PS", k.c(coefficients[i]), x, p)
	}
}

// exp computes x = exp(x) for x in expLeast…expMost.
func (k *vectors) exp(x value) {
	n := k.reduce(x)
	k.do("VADDPS", k.c(1), x, x)
	k.scale(x, n)
}

// scale computes x = x·2ⁿ. n holds integers as float32. scale frees n.
func (k *vectors) scale(x, n value) {
	if k.wide() {
		k.do("VSCALEFPS", n, x, x)
		k.free(n)
		return
	}
	// 2ⁿ may be out of range although the result is not: multiply by its square root twice.
	half := k.temp()
	k.do("VCVTPS2DQ", n, n)
	k.do("VPSRAD", 1, n, half)
	k.do("VPSUBD", half, n, n)
	for _, exponent := range []value{half, n} {
		k.power(exponent)
		k.do("VMULPS", exponent, x, x)
	}
	k.free(n, half)
}

// expNormal is the smallest argument whose exponential is not subnormal.
const expNormal = -87.33654

// expOrZero computes x = exp(x) for x ≤ expMost. A result that would be subnormal becomes zero,
// because processors are slow to compute such numbers.
func (k *vectors) expOrZero(x value) {
	normal := k.compare(notLess, x, k.pin(expNormal))
	k.atLeast(x, k.pin(expNormal))
	k.exp(x)
	k.only(normal, x, x)
}

// halfExp returns exp(x)/2 as a new value, for x ≥ 0. The result is infinite if it overflows.
func (k *vectors) halfExp(x value) value {
	r := k.duplicate(x)
	k.atMost(r, k.pin(expMost+1))
	n := k.reduce(r)
	k.do("VADDPS", k.c(1), r, r)
	k.do("VSUBPS", k.c(1), n, n)
	k.scale(r, n)
	return r
}

// power replaces n by the float32 numbers 2ⁿ. n holds 32-bit integers from −126 to 127.
func (k *vectors) power(n value) {
	k.do("VPADDD", k.word(127), n, n)
	k.do("VPSLLD", 23, n, n)
}

// expm1 computes x = exp(x) − 1 for x in −25…25.
func (k *vectors) expm1(x value) {
	n, scaled := k.reduce(x), k.temp()
	k.do("VCVTPS2DQ", n, n)
	k.power(n)
	k.do("VSUBPS", k.c(1), n, scaled)
	k.do("VFMADD213PS", scaled, n, x)
	k.free(n, scaled)
}

// tanh computes x = tanh(x). tanh(|x|) is m/(m + 2) with m = exp(2·|x|) − 1, and 1 if |x| ≥ 10.
func (k *vectors) tanh(x value) {
	m := k.temp()
	k.do("VANDPS", k.word(magnitude), x, m)
	k.do("VADDPS", m, m, m)
	k.atMost(m, k.pin(20))
	k.expm1(m)
	k.do("VANDPS", k.word(signBit), x, x)
	d := k.temp()
	k.do("VADDPS", k.c(2), m, d)
	k.do("VDIVPS", d, m, m)
	k.do("VORPS", m, x, x)
	k.free(m, d)
}

// log1pTail holds the coefficients of a polynomial in f. It approximates (log(1 + f) − f + f²/2)/f³
// for √½ ≤ 1 + f ≤ √2, within 4.2e-7.
var log1pTail = []float64{
	3.333332994e-01, -2.500030392e-01, 2.000120095e-01, -1.664158152e-01,
	1.420994636e-01, -1.298927820e-01, 1.265569256e-01, -7.974204303e-02,
}

func (k *vectors) log(x value) {
	// Subnormal numbers are scaled by 2²³.
	m, n := k.temp(), k.temp()
	k.do("VMULPS", k.c(1<<23), x, m)
	small := k.compare(less, x, k.c(0x1p-126))
	if k.wide() {
		k.do("VBLENDMPS", m, x, small, m)
		k.do("VMOVUPS.Z", k.c(-23), small, n)
	} else {
		k.do("VANDPS", k.c(-23), small, n)
		k.choose(small, m, x, m)
	}
	k.logOfParts(m, n)
	p := m
	// +Inf and NaN stay, zeros give −Inf, and negative numbers give NaN.
	k.choose(k.compare(notLess, x, k.c(math.Inf(1))), x, p, p)
	k.choose(k.compare(equal, x, k.c(0)), k.c(math.Inf(-1)), p, p)
	k.choose(k.compare(less, x, k.c(0)), k.c(math.NaN()), p, x)
	k.free(m, n)
}

// logOfNormal computes x = log(x) for positive normal numbers.
func (k *vectors) logOfNormal(x value) {
	n := k.temp()
	k.do("VXORPS", n, n, n)
	k.logOfParts(x, n)
	k.free(n)
}

// logOfParts computes m = log(m·2ⁿ) for a positive normal m and an integer n in float32. It overwrites n.
func (k *vectors) logOfParts(m, n value) {
	const rootHalf = 0x3f3504f3
	// Write m as 2ⁿ·(1 + f) with √½ ≤ 1 + f ≤ √2.
	f := k.temp()
	k.do("VPSUBD", k.word(rootHalf), m, m)
	k.do("VPSRAD", 23, m, f)
	k.do("VCVTDQ2PS", f, f)
	k.do("VADDPS", f, n, n)
	k.do(k.and(), k.word(1<<23-1), m, m)
	k.do("VPADDD", k.word(rootHalf), m, m)
	k.do("VSUBPS", k.c(1), m, f)
	p := m
	k.polynomial(p, f, log1pTail)
	square := k.temp()
	k.do("VMULPS", f, f, square)
	k.do("VFMADD213PS", k.c(-0.5), f, p)
	k.do("VMULPS", square, p, p)
	high, low := k.ln2()
	k.do("VFMADD231PS", k.c(low), n, p)
	k.do("VADDPS", f, p, p)
	k.do("VFMADD231PS", k.c(high), n, p)
	k.free(f, square)
}

func (s isa) and() string {
	if s.wide() {
		return "VPANDD"
	}
	return "VPAND"
}

// erfcLog holds the coefficients of a polynomial p in −a, for 0 ≤ a ≤ erfMost. p approximates
// log(erfc(a))/(−a). exp(−a·p(−a)) − 1 differs from −erf(a) by at most 5e-9. Above erfMost, erf is
// 1.
var erfcLog = []float64{
	1.128379171e+00, -6.366194077e-01, 1.027776343e-01, 1.915241352e-02, -1.615036792e-04,
	-1.668065629e-03, -6.333753084e-04, -1.177854384e-04, -9.271747055e-06,
}

const erfMost = 4

func (k *vectors) erf(x value) {
	m, p := k.temp(), k.temp()
	k.do("VORPS", k.word(signBit), x, m)
	k.atLeast(m, k.pin(-erfMost))
	k.polynomial(p, m, erfcLog)
	k.do("VMULPS", p, m, m)
	k.free(p)
	k.expm1(m)
	k.do("VANDPS", k.word(magnitude), m, m)
	k.do("VANDPS", k.word(signBit), x, x)
	k.do("VORPS", m, x, x)
	k.free(m)
}
