package main

import "math"

// These are the coefficients of polynomials in the square of the argument. They begin with the
// constant term.
var (
	// sineTail holds the coefficients of a polynomial in r². It approximates (sin(r)/r − 1)/r² for
	// |r| ≤ π/4. The resulting sin(r)/r has an error of at most 3.7e-9.
	sineTail = []float64{-1.666665491e-01, 8.332175843e-03, -1.951697701e-04}
	// cosineTail holds the coefficients of a polynomial in r². It approximates (cos r − 1 +
	// r²/2)/r⁴ for |r| ≤ π/4. The resulting cos r has an error of at most 1e-10.
	cosineTail = []float64{4.166664681e-02, -1.388736448e-03, 2.443809043e-05}
	// tangentTail holds the coefficients of a polynomial in r². It approximates (tan(r)/r − 1)/r²
	// for |r| ≤ π/4. The resulting tan(r)/r has an error of at most 1.5e-9.
	tangentTail = []float64{
		3.333335159e-01, 1.333260480e-01, 5.406613687e-02, 2.125182392e-02,
		1.091069771e-02, -1.266862536e-06, 4.419308005e-03,
	}
	// arcsineTail holds the coefficients of a polynomial in s². It approximates (asin(s)/s − 1)/s²
	// for |s| ≤ ½. The resulting asin(s)/s has an error of at most 5e-9.
	arcsineTail = []float64{1.666675393e-01, 7.495241750e-02, 4.547710163e-02, 2.414758637e-02, 4.221859323e-02}
	// arctangentTail holds the coefficients of a polynomial in t². It approximates (atan(t)/t −
	// 1)/t² for |t| ≤ 1. The resulting atan(t)/t has an error of at most 2.4e-9.
	arctangentTail = []float64{
		-3.333330187e-01, 1.999863862e-01, -1.426524537e-01, 1.095757591e-01, -8.419457891e-02,
		5.823452462e-02, -3.145567284e-02, 1.106442418e-02, -1.827208974e-03,
	}
)

// halfPi is π/2 as the sum of three float32 numbers of 24 bits.
var halfPi = [3]float64{1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15}

// trigonometry lists the kernels of the trigonometric functions and their inverses. The functions
// of an angle require |x[i]| ≤ farAngle.
var trigonometry = []pointwise{
	unary("sin", "sin(x[i])", func(k *vectors, x value) { k.turn(x, 0) }),
	unary("cos", "cos(x[i])", func(k *vectors, x value) { k.turn(x, 1) }),
	unary("tan", "tan(x[i])", func(k *vectors, x value) {
		// A quotient of two functions of r would show the error of rounding x to r.
		q, r, lost, t, u := k.temp(), k.temp(), k.temp(), k.temp(), k.temp()
		k.nearest(x, q)
		k.do("VFNMADD231PS", k.c(halfPi[0]), q, x)
		k.do("VMULPS", k.c(halfPi[1]), q, t)
		k.do("VMOVAPS", t, lost)
		k.do("VFNMADD231PS", k.c(halfPi[1]), q, lost)
		k.do("VFNMADD231PS", k.c(halfPi[2]), q, lost)
		k.do("VSUBPS", t, x, r)
		k.do("VSUBPS", x, r, u)
		k.do("VADDPS", u, t, t)
		k.do("VSUBPS", u, r, u)
		k.do("VSUBPS", u, x, u)
		k.do("VSUBPS", t, u, u)
		k.do("VADDPS", u, lost, lost)
		k.free(t, u)
		k.do("VCVTPS2DQ", q, q)
		z, p, d := k.temp(), k.temp(), k.temp()
		k.do("VMULPS", r, r, z)
		k.polynomial(p, z, tangentTail)
		k.do("VMULPS", r, z, z)
		// The tangent of r + lost is t + lost·(1 + t²), where t is the tangent of r.
		k.do("VMOVAPS", r, d)
		k.do("VFMADD231PS", p, z, d)
		k.do("VMULPS", d, d, d)
		k.do("VFMADD213PS", lost, lost, d)
		k.do("VFMADD213PS", d, z, p)
		k.do("VADDPS", p, r, r)
		// In odd quadrants it is the negative reciprocal.
		k.do("VMOVUPS", k.c(-1), d)
		k.do("VDIVPS", r, d, d)
		k.do("VPSLLD", 31, q, q)
		k.do("VPSRAD", 31, q, q)
		k.exchange(r, d, q, x)
		k.do("VMOVAPS", r, x)
		k.free(q, r, lost, z, p, d)
	}),
	unary("asin", "asin(x[i])", func(k *vectors, x value) {
		s, p := k.arcsine(x)
		// For |x| > ½ it is π/2 − 2·p, where p is the arcsine of the root.
		a, far := k.temp(), k.temp()
		k.do("VANDPS", k.word(magnitude), x, a)
		k.do("VMOVUPS", k.c(halfPi[0]), far)
		k.do("VFNMADD231PS", k.c(2), p, far)
		k.do("VADDPS", k.c(halfPi[1]), far, far)
		k.choose(k.compare(greater, a, k.c(0.5)), far, p, p)
		k.do("VANDPS", k.word(signBit), x, x)
		k.do("VORPS", p, x, x)
		k.free(s, p, a, far)
	}),
	unary("acos", "acos(x[i])", func(k *vectors, x value) {
		s, p := k.arcsine(x)
		// For |x| ≤ ½ it is π/2 ∓ p, otherwise 2·p or π − 2·p.
		a, far, near := k.temp(), k.temp(), k.temp()
		k.do("VMOVUPS", k.c(2*halfPi[0]), far)
		k.do("VFNMADD231PS", k.c(2), p, far)
		k.do("VADDPS", k.c(2*halfPi[1]), far, far)
		k.do("VADDPS", p, p, s)
		k.choose(k.compare(less, x, k.c(0)), far, s, far)
		k.do("VANDPS", k.word(signBit), x, a)
		k.do("VXORPS", a, p, p)
		k.do("VSUBPS", k.c(halfPi[1]), p, p)
		k.do("VMOVUPS", k.c(halfPi[0]), near)
		k.do("VSUBPS", p, near, near)
		k.do("VANDPS", k.word(magnitude), x, a)
		k.choose(k.compare(greater, a, k.c(0.5)), far, near, near)
		// p is NaN for NaN and for |x| > 1.
		k.choose(k.compare(unordered, s, s), s, near, x)
		k.free(s, p, a, far, near)
	}),
	unary("atan", "atan(x[i])", func(k *vectors, x value) {
		// For |x| > 1 it is π/2 − atan(1/a).
		a, t, z, p := k.temp(), k.temp(), k.temp(), k.temp()
		k.do("VANDPS", k.word(magnitude), x, a)
		k.do("VMOVUPS", k.c(1), t)
		k.do("VDIVPS", a, t, t)
		k.do("VMINPS", a, t, t)
		k.do("VMULPS", t, t, z)
		k.polynomial(p, z, arctangentTail)
		k.do("VMULPS", t, z, z)
		k.do("VFMADD213PS", t, z, p)
		k.do("VMOVUPS", k.c(halfPi[0]), t)
		k.do("VSUBPS", p, t, t)
		k.do("VADDPS", k.c(halfPi[1]), t, t)
		k.choose(k.compare(greater, a, k.c(1)), t, p, p)
		k.do("VANDPS", k.word(signBit), x, x)
		k.do("VORPS", p, x, x)
		k.free(a, t, z, p)
	}),
}

// quadrant finds the multiple q·π/2 that is nearest to x, and subtracts it from x. It returns q as
// an integer.
func (k *vectors) quadrant(x value) (q value) {
	q = k.temp()
	k.nearest(x, q)
	for _, part := range halfPi {
		k.do("VFNMADD231PS", k.c(part), q, x)
	}
	k.do("VCVTPS2DQ", q, q)
	return q
}

// nearest computes q, the integer for which q·π/2 is nearest to x. q is stored as a float.
func (k *vectors) nearest(x, q value) {
	k.do("VMULPS", k.c(2/math.Pi), x, q)
	k.round(nearestEven, q, q)
}

// sineCosine returns the sine and the cosine of r as two new values, for |r| ≤ π/4.
func (k *vectors) sineCosine(r value) (s, c value) {
	z, t := k.temp(), k.temp()
	s, c = k.temp(), k.temp()
	k.do("VMULPS", r, r, z)
	k.polynomial(s, z, sineTail)
	k.do("VMULPS", r, z, t)
	k.do("VFMADD213PS", r, t, s)
	k.polynomial(c, z, cosineTail)
	k.do("VFMADD213PS", k.c(-0.5), z, c)
	k.do("VFMADD213PS", k.c(1), z, c)
	k.free(z, t)
	return s, c
}

// turn computes x = sin(x + quadrants·π/2).
func (k *vectors) turn(x value, quadrants uint32) {
	q := k.quadrant(x)
	if quadrants > 0 {
		k.do("VPADDD", k.word(quadrants), q, q)
	}
	s, c := k.sineCosine(x)
	odd, sign := k.temp(), k.temp()
	k.do("VPSLLD", 31, q, odd)
	k.do("VPSRAD", 31, odd, odd)
	k.exchange(s, c, odd, x)
	k.do("VPSRLD", 1, q, sign)
	k.do("VPSLLD", 31, sign, sign)
	k.do("VXORPS", sign, s, x)
	k.free(q, s, c, odd, sign)
}

// exchange swaps a and b in the lanes in which the bits of `odd` are ones. It overwrites t.
func (k *vectors) exchange(a, b, odd, t value) {
	k.do("VXORPS", a, b, t)
	k.do("VANDPS", odd, t, t)
	k.do("VXORPS", t, a, a)
	k.do("VXORPS", t, b, b)
}

// arcsine returns two new values, s and p. s is |x| if |x| is at most ½, and √((1 − |x|)/2)
// otherwise. p is the arcsine of s.
func (k *vectors) arcsine(x value) (s, p value) {
	s, p = k.temp(), k.temp()
	z, root := k.temp(), k.temp()
	k.do("VANDPS", k.word(magnitude), x, s)
	k.do("VMOVUPS", k.c(0.5), z)
	k.do("VFNMADD231PS", k.c(0.5), s, z)
	k.do("VSQRTPS", z, root)
	k.do("VMULPS", s, s, p)
	k.do("VMINPS", z, p, z)
	k.choose(k.compare(greater, s, k.c(0.5)), root, s, s)
	k.polynomial(p, z, arcsineTail)
	k.do("VMULPS", s, z, z)
	k.do("VFMADD213PS", s, z, p)
	k.free(z, root)
	return s, p
}
