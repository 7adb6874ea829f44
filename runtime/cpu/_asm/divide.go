package main

import "fmt"

// divisions writes the division of 32-bit integers. It divides in float64. Rounding to 53 bits
// cannot change the integer to which the quotient is truncated. A quotient that does not fit 32
// bits becomes the smallest integer, as Go specifies.
func divisions(f *file) {
	for _, s := range f.sets() {
		for _, kind := range []struct{ name, doc string }{
			{"quotient", "a[i] / b[i]"},
			{"remainder", "a[i] − (a[i] / b[i])·b[i]"},
			{"modulus", "a[i] modulo b[i], with the sign of b[i]"},
		} {
			for _, scalar := range []bool{false, true} {
				name, params, results, doc := kind.name+"Int32"+s.name, "dst, a, b *int32, n int", "zeros int", kind.doc+" and returns a number other than 0 if a divisor is 0"
				if scalar {
					name, params, results = kind.name+"Scalar"+s.name, params+", factor *float64", ""
					doc = kind.doc + ". b points to copies of one divisor that fill a register, and factor to its reciprocal, rounded up"
				}
				f.fun(fmt.Sprintf("%s computes dst[i] = %s. n is a positive multiple of 32.", name, doc), name, params, results)
				f.divide(s, kind.name, scalar)
			}
		}
	}
	f.has("Divide")
	ways := func(of string) []kernel {
		return []kernel{{when: "quotient", name: "quotient" + of}, {when: "remainder", name: "remainder" + of}, {name: "modulus" + of}}
	}
	f.dispatch(dispatch{
		doc:      "divide32 divides n elements, a positive multiple of 32, and returns whether a divisor is 0, as 0 or not 0.",
		function: "divide32(kind division, dst, a, b *int32, n int)", result: "int", by: "kind",
		kernels: ways("Int32"), args: "dst, a, b, n",
	})
	f.dispatch(dispatch{
		doc: `divideScalar32 divides n elements, a positive multiple of 32, by one number. b points to as many copies of it
as a register holds, and factor to its reciprocal, a bit too large.`,
		function: "divideScalar32(kind division, dst, a, b *int32, n int, factor *float64)", by: "kind",
		kernels: ways("Scalar"), args: "dst, a, b, n, factor",
	})
}

// divide writes the loop over elements. Each iteration divides two registers of float64. If scalar
// is true, all elements have the same divisor, and the loop multiplies by its reciprocal.
func (f *file) divide(s isa, kind string, scalar bool) {
	const flight = 2
	toInt := "VCVTTPD2DQ"
	if !s.wide() {
		toInt = "VCVTTPD2DQY"
	}
	width, pointers := s.bytes/2, []string{"DI", "SI", "DX"}
	f.load("dst", "DI", "a", "SI", "b", "DX", "n", "CX")
	factor, least, zero := s.reg(15), s.halved(s.reg(14)), s.halved(s.reg(13))
	f.op("VPXOR", zero, zero, zero)
	if scalar {
		pointers = pointers[:2]
		f.load("factor", "AX")
		f.op("VBROADCASTSD", "(AX)", factor)
	} else {
		f.op("VPCMPEQD", least, least, least)
	}
	next := f.fresh("next")
	f.mark(next)
	for i := range flight {
		q, t := s.reg(3*i), s.reg(3*i+1)
		h, u, v := s.halved(q), s.halved(t), s.halved(s.reg(3*i+2))
		a, b := at("SI", i*width), at("DX", i*width)
		f.op("VCVTDQ2PD", a, q)
		if scalar {
			b = "(DX)"
			f.op("VMULPD", factor, q, q)
		} else {
			f.op("VCVTDQ2PD", b, t)
			f.op("VPMINUD", b, least, least)
			f.op("VDIVPD", t, q, q)
		}
		f.op(toInt, q, h)
		if kind != "quotient" {
			f.op("VPMULLD", b, h, u)
			f.op("VMOVDQU", a, h)
			f.op("VPSUBD", u, h, h)
		}
		if kind == "modulus" {
			f.op("VPXOR", b, h, u)
			f.op("VPSRAD", 31, u, u)
			f.op("VPCMPEQD", zero, h, v)
			f.op("VPANDN", u, v, u)
			f.op("VPAND", b, u, u)
			f.op("VPADDD", u, h, h)
		}
		f.op("VMOVDQU", h, at("DI", i*width))
	}
	for _, p := range pointers {
		f.op("ADDQ", flight*width, p)
	}
	f.op("SUBQ", flight*width/4, "CX")
	f.op("JGT", next)
	if !scalar {
		f.op("VPCMPEQD", zero, least, least)
		f.op("VPMOVMSKB", least, "AX")
		f.op("MOVQ", "AX", f.arg("zeros"))
	}
	f.ret()
}
