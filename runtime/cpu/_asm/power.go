package main

import "math"

// powers lists the kernels of powers and cubes. The kernels of powers require finite nonzero bases
// and finite exponents. All kernels compute in float64, so that their rounding errors are too small
// to show in float32.
var powers = []pointwise{
	{
		name: "pow", doc: "a[i] to the power b[i]", inputs: []string{"a", "b"},
		body: func(k *vectors) value { return k.pow(k.in[0], k.in[1]) },
	},
	{
		name: "powScalar", doc: "a[i] to the power b", inputs: []string{"a"}, scalars: []string{"b"},
		body: func(k *vectors) value {
			b := k.temp()
			k.do("VMOVAPS", k.scalars[0], b)
			return k.pow(k.in[0], b)
		},
	},
	{
		name: "scalarPow", doc: "a to the power b[i]", inputs: []string{"b"}, scalars: []string{"a"},
		body: func(k *vectors) value {
			a := k.temp()
			k.do("VMOVAPS", k.scalars[0], a)
			return k.pow(a, k.in[0])
		},
	},
	unary("cube", "x[i]³", func(k *vectors, x value) {
		low, high := k.temp(), k.temp()
		k.do("VCVTPS2PD", half{x}, low)
		k.upperHalf(x, high)
		k.do("VCVTPS2PD", half{high}, high)
		for _, v := range []value{low, high} {
			square := k.temp()
			k.do("VMULPD", v, v, square)
			k.do("VMULPD", square, v, v)
			k.free(square)
		}
		k.joinHalves(low, high, x)
		k.free(low, high)
	}),
}

var (
	// log2Odd holds the coefficients of a polynomial in s². It approximates log₂((1 + s)/(1 − s))/s
	// for |s| ≤ (√2 − 1)/(√2 + 1), within 8.1e-14.
	log2Odd = []float64{2.8853900817778531, 0.96179669411306656, 0.57707794236431742, 0.4122092558985927, 0.31990547782882206, 0.28290391940184834}
	// exp2 holds the coefficients of a polynomial in t. It approximates 2^t for |t| ≤ ½, within
	// 1.9e-9.
	exp2 = []float64{0.99999999991906907, 0.6931472067098895, 0.24022651505048676, 0.055503272152523361, 0.0096179945148628342, 0.001340043187263139, 0.00015478022092879629}
)

// magic is 2⁵². From magic on, adjacent float64s differ by 1. For an integer n in [0, 2⁵²), the low
// 52 bits of the float64 magic + n are therefore n.
const magic = 1 << 52

// pow returns a to the power b. a and b must be finite, and a not 0. pow overwrites both.
func (k *vectors) pow(a, b value) value {
	low, high := k.temp(), k.temp()
	p := k.temp()
	k.do("VANDPS", k.word(magnitude), a, p)
	k.upperHalf(p, high)
	k.do("VCVTPS2PD", half{p}, low)
	k.do("VCVTPS2PD", half{high}, high)
	k.log2(low)
	k.log2(high)
	k.do("VCVTPS2PD", half{b}, p)
	k.do("VMULPD", p, low, low)
	k.upperHalf(b, p)
	k.do("VCVTPS2PD", half{p}, p)
	k.do("VMULPD", p, high, high)
	k.exp2(low)
	k.exp2(high)
	k.joinHalves(low, high, p)
	k.free(low, high)
	// A negative base has only integral powers; others give NaN. s becomes the sign of the result:
	// set for odd powers.
	whole, s := k.temp(), k.temp()
	k.round(nearestEven, b, whole)
	k.do("VXORPS", s, s, s)
	k.choose(k.compare(unequal, whole, b), k.word(1<<32-1), s, s)
	k.do("VMULPS", k.c(0.5), b, b)
	k.round(nearestEven, b, whole)
	odd := k.temp()
	k.do("VORPS", k.word(signBit), s, odd)
	k.choose(k.compare(unequal, whole, b), odd, s, s)
	k.only(k.compare(less, a, k.c(0)), s, s)
	k.do("VORPS", s, p, p)
	k.free(whole, s, odd)
	return p
}

// log2 computes x = log₂(x) in float64, for positive normal numbers.
func (k *vectors) log2(x value) {
	rootHalf := math.Float64bits(math.Sqrt2 / 2)
	// Write x as 2ⁿ·m with √½ ≤ m ≤ √2.
	n, d := k.temp(), k.temp()
	k.do("VPSUBQ", k.long(rootHalf), x, n)
	k.do("VPSRLQ", 52, n, d)
	k.do("VPSLLQ", 52, d, n)
	k.do("VPSUBQ", n, x, x)
	// n may be negative and has 12 bits.
	k.do("VPADDQ", k.long(1<<11), d, d)
	k.do("VANDPD", k.long(1<<12-1), d, d)
	k.do("VORPD", k.double(magic), d, n)
	k.do("VSUBPD", k.double(magic+1<<11), n, n)
	k.do("VADDPD", k.double(1), x, d)
	k.do("VSUBPD", k.double(1), x, x)
	k.do("VDIVPD", d, x, x)
	z := d
	k.do("VMULPD", x, x, z)
	p := k.temp()
	k.polynomial64(p, z, log2Odd)
	k.do("VFMADD213PD", n, p, x)
	k.free(n, d, p)
}

// exp2 computes x = 2^x in float64. It first clamps x to a range. Outside of this range, a float32
// result overflows or becomes 0.
func (k *vectors) exp2(x value) {
	k.do("VMINPD", k.double(300), x, x)
	k.do("VMAXPD", k.double(-300), x, x)
	n, p := k.temp(), k.temp()
	k.do("VADDPD", k.double(3*magic/2+1023), x, n)
	k.do("VSUBPD", k.double(3*magic/2+1023), n, p)
	k.do("VSUBPD", p, x, x)
	k.polynomial64(p, x, exp2)
	k.do("VPSLLQ", 52, n, n)
	k.do("VMULPD", n, p, x)
	k.free(n, p)
}

// polynomial64 is [vectors.polynomial] in float64.
func (k *vectors) polynomial64(p, x value, coefficients []float64) {
	last := len(coefficients) - 1
	k.do("VMOVUPS", k.double(coefficients[last]), p)
	for i := last - 1; i >= 0; i-- {
		k.do("VFMADD213PD", k.double(coefficients[i]), x, p)
	}
}

// upperHalf sets the lower half of dst to the upper half of v.
func (k *vectors) upperHalf(v, dst value) {
	if k.wide() {
		k.do("VEXTRACTF64X4", 1, v, half{dst})
		return
	}
	k.do("VEXTRACTF128", 1, v, half{dst})
}

// joinHalves rounds the float64 values `low` and `high` to float32. It puts the results into the
// lower and the upper half of dst. It overwrites `low` and `high`.
func (k *vectors) joinHalves(low, high, dst value) {
	if k.wide() {
		k.do("VCVTPD2PS", low, half{low})
		k.do("VCVTPD2PS", high, half{high})
		k.do("VINSERTF64X4", 1, half{high}, low, dst)
		return
	}
	k.do("VCVTPD2PSY", low, half{low})
	k.do("VCVTPD2PSY", high, half{high})
	k.do("VINSERTF128", 1, half{high}, low, dst)
}
