package main

import (
	"fmt"
	"math"
)

// uniforms writes the kernels of random numbers. An element is computed from its own counter, in a lane of 64 bits.
// Only the lower 32 bits of a lane count, until the last round.
func uniforms(f *file) {
	t := &table{name: "uniformConstants"}
	f.words("uniformLanes", 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0)
	for _, s := range f.sets() {
		name := "uniform" + s.name
		f.fun(name+" computes dst[i] = low + span·UniformAt(seed, first+i), see rt.UniformAt. n is a positive multiple of 32.",
			name, "dst *float32, n int, first, seed uint64, low, span float64", "")
		f.uniform(s, t)
	}
	t.write(f)
	f.has("Uniform")
	f.dispatch(dispatch{
		doc:      "uniform computes n random numbers, a positive multiple of 32; see uniformAVX2.",
		function: "uniform(dst *float32, n int, first, seed uint64, low, span float64)",
		kernels:  only("uniform"), args: "dst, n, first, seed, low, span",
	})
}

// uniform writes the loop over elements. An iteration computes two or four registers of them.
func (f *file) uniform(s isa, t *table) {
	flight, lanes, xor := 2, s.bytes/8, "VPXOR"
	if s.wide() {
		flight, xor = 4, "VPXORQ"
	}
	f.load("dst", "DI", "n", "CX", "first", "R8", "seed", "R9")
	f.op("MOVQ", "R9", "R10")
	f.op("SHRQ", 32, "R10")
	k0, k1 := s.reg(6*flight), s.reg(6*flight+1)
	next := f.fresh("next")
	f.mark(next)
	f.spread(s, "R9", k0)
	f.spread(s, "R10", k1)
	at := make([]philox, flight)
	for i := range at {
		for k := range at[i] {
			at[i][k] = s.reg(6*i + k)
		}
		p := &at[i]
		f.spread(s, "R8", p[0])
		f.op("VPADDQ", "uniformLanes<>(SB)", p[0], p[0])
		f.op("VPSRLQ", 32, p[0], p[1])
		f.op(xor, p[2], p[2], p[2])
		f.op(xor, p[3], p[3], p[3])
		f.op("ADDQ", lanes, "R8")
	}
	for round := range 10 {
		if round > 0 {
			f.op("VPADDQ", t.row(0x9e3779b9), k0, k0)
			f.op("VPADDQ", t.row(0xbb67ae85), k1, k1)
		}
		for i := range at {
			at[i].round(f, xor, t, k0, k1)
		}
	}
	for i := range at {
		p := &at[i]
		f.fraction(s, t, p)
		f.op("VBROADCASTSD", f.arg("span"), p[1])
		f.op("VMULPD", p[1], p[0], p[0])
		f.op("VBROADCASTSD", f.arg("low"), p[1])
		f.op("VADDPD", p[1], p[0], p[0])
		narrow := "VCVTPD2PSY"
		if s.wide() {
			narrow = "VCVTPD2PS"
		}
		f.op(narrow, p[0], s.halved(p[0]))
		f.op("VMOVUPS", s.halved(p[0]), fmt.Sprintf("%d(DI)", i*s.bytes/2))
	}
	f.op("ADDQ", flight*s.bytes/2, "DI")
	f.op("SUBQ", flight*lanes, "CX")
	f.op("JGT", next)
	f.ret()
}

// spread copies a general register to all lanes of 64 bits.
func (f *file) spread(s isa, from, to string) {
	low := "X" + to[1:]
	f.op("VMOVQ", from, low)
	f.op("VPBROADCASTQ", low, to)
}

// philox names the registers of a running Philox-4x32: the four words, and two registers that are free.
type philox [6]string

// round writes one round. k0 and k1 hold its keys.
func (p *philox) round(f *file, xor string, t *table, k0, k1 string) {
	f.op("VPMULUDQ", t.row(0xd2511f53), p[0], p[4])
	f.op("VPMULUDQ", t.row(0xcd9e8d57), p[2], p[5])
	f.op("VPSRLQ", 32, p[5], p[0])
	f.op(xor, p[1], p[0], p[0])
	f.op(xor, k0, p[0], p[0])
	f.op("VPSRLQ", 32, p[4], p[2])
	f.op(xor, p[3], p[2], p[2])
	f.op(xor, k1, p[2], p[2])
	*p = philox{p[0], p[5], p[2], p[4], p[1], p[3]}
}

// fraction writes p[0] = (a >> 11)·2⁻⁵³ in float64, where the lower half of a is the first word and the upper half is
// the second one.
func (f *file) fraction(s isa, t *table, p *philox) {
	const two52, two84 = 1 << 52, 1 << 84
	f.op("VPSLLQ", 32, p[1], p[1])
	f.op("VPSLLQ", 32, p[0], p[0])
	f.op("VPSRLQ", 43, p[0], p[0])
	f.op("VPSRLQ", 11, p[1], p[1])
	if s.wide() {
		f.op("VPORQ", p[1], p[0], p[0])
		f.op("VCVTQQ2PD", p[0], p[0])
	} else {
		f.op("VPOR", p[1], p[0], p[0])
		// The bits of an integer below 2³² are those of the number 2⁵² + the integer, but for its exponent; those of
		// an integer times 2³² are those of 2⁸⁴ + that product.
		f.op("VPSRLQ", 32, p[0], p[1])
		f.op("VPOR", t.row(math.Float64bits(two84)), p[1], p[1])
		f.op("VPBLENDD", 0xaa, t.row(math.Float64bits(two52)), p[0], p[0])
		f.op("VSUBPD", t.row(math.Float64bits(two84+two52)), p[1], p[1])
		f.op("VADDPD", p[1], p[0], p[0])
	}
	f.op("VMULPD", t.row(math.Float64bits(0x1p-53)), p[0], p[0])
}
