package main

// quantizers writes the kernels that convert floats to bytes and back, with one scale. A kernel
// handles 16 elements at a time. Registers: DI points to the result, SI to the operand, and BX to a
// struct of type quantum of package cpu. CX is the number of elements, a positive multiple of 16.
func quantizers(f *file) {
	low := f.words("lowBytes", 0xff)
	begin := func() {
		f.load("dst", "DI", "x", "SI", "n", "CX", "q", "BX")
		f.op("SHRQ", 4, "CX")
	}
	f.quantizeWide(begin)

	f.fun("quantizeBytesAVX2 computes dst[i] as QuantizeScalar does.", "quantizeBytesAVX2", "dst *byte, x *float32, n int, q *quantum", "")
	begin()
	for i, field := range []string{"scale", "lo", "hi", "zero"} {
		f.op("VBROADCASTSS", "quantum_"+field+"(BX)", y(12+i))
	}
	f.op("VPBROADCASTD", low, y(11))
	f.loop("CX", func() {
		for i := range 2 {
			f.op("VMOVUPS", at("SI", 32*i), y(i))
			f.op("VDIVPS", y(12), y(i), y(i))
			f.op("VMAXPS", y(13), y(i), y(i))
			f.op("VMINPS", y(14), y(i), y(i))
			f.op("VCVTPS2DQ", y(i), y(i))
			f.op("VPADDD", y(15), y(i), y(i))
			f.op("VPAND", y(11), y(i), y(i))
		}
		f.op("VPACKUSDW", y(1), y(0), y(0))
		f.op("VPERMQ", 0xd8, y(0), y(0))
		f.op("VEXTRACTI128", 1, y(0), x(1))
		f.op("VPACKUSWB", x(1), x(0), x(0))
		f.op("VMOVDQU", x(0), at("DI", 0))
		f.op("ADDQ", 64, "SI")
		f.op("ADDQ", 16, "DI")
	})
	f.ret()

	for _, t := range []struct{ name, widen string }{{"U8", "VPMOVZXBD"}, {"I8", "VPMOVSXBD"}} {
		for _, s := range isas {
			f.fun("dequantize"+t.name+s.name+" computes dst[i] as DequantizeScalar does.", "dequantize"+t.name+s.name, "dst *float32, x *byte, n int, q *quantum", "")
			begin()
			zero, scale := s.reg(s.regs-1), s.reg(s.regs-2)
			f.op("VPBROADCASTD", "quantum_zero(BX)", zero)
			f.op("VBROADCASTSS", "quantum_scale(BX)", scale)
			f.loop("CX", func() {
				for i := range 64 / s.bytes {
					v := s.reg(i)
					f.op(t.widen, at("SI", i*s.bytes/4), v)
					f.op("VPSUBD", zero, v, v)
					f.op("VCVTDQ2PS", v, v)
					f.op("VMULPS", scale, v, v)
					f.op("VMOVUPS", v, at("DI", i*s.bytes))
				}
				f.op("ADDQ", 16, "SI")
				f.op("ADDQ", 64, "DI")
			})
			f.ret()
		}
	}
	f.dispatch(dispatch{
		doc: `quantizeBytes quantises elements, a positive multiple of 16, if there is assembly, and returns
whether there is.`,
		function: "quantizeBytes(dst []byte, x []float32, q *quantum)", result: done,
		variants: []variant{{"level == AVX512 && q.times == q.times", "AVX512"}, {"level >= AVX2", "AVX2"}},
		kernels:  only("quantizeBytes"), args: "&dst[0], &x[0], len(x), q", otherwise: "return false",
	})
	f.dispatch(dispatch{
		doc: `dequantizeBytes dequantises elements, a positive multiple of 16, if there is assembly, and returns
whether there is.`,
		function: "dequantizeBytes(dst []float32, x []byte, signed bool, q *quantum)", result: done,
		kernels: []kernel{{when: "signed", name: "dequantizeI8"}, {name: "dequantizeU8"}},
		args:    "&dst[0], &x[0], len(x), q", otherwise: "return false",
	})
}

// quantizeWide writes the quantisation for AVX-512. The code multiplies by the reciprocal of the
// scale and rounds to an integer. The product is at most 511, and differs from the exact quotient
// by less than 2⁻¹³. If a product is near the middle between two integers, the code divides
// instead. `begin` writes the code that loads the parameters.
func (f *file) quantizeWide(begin func()) {
	abs, near := f.words("absolute", 0x7fffffff), f.floats("nearHalf", 0.5-1.0/(1<<13))
	f.fun("quantizeBytesAVX512 computes dst[i] as QuantizeScalar does.", "quantizeBytesAVX512", "dst *byte, x *float32, n int, q *quantum", "")
	begin()
	for i, field := range []string{"scale", "lo", "hi", "zero", "times"} {
		f.op("VBROADCASTSS", "quantum_"+field+"(BX)", z(31-i))
	}
	scale, lo, hi, zero, times := z(31), z(30), z(29), z(28), z(27)
	f.op("VBROADCASTSS", abs, z(26))
	f.op("VBROADCASTSS", near, z(25))
	divide, store := f.fresh("divide"), f.fresh("store")
	f.loop("CX", func() {
		f.op("VMULPS", "(SI)", times, z(0))
		f.op("VMAXPS", lo, z(0), z(0))
		f.op("VMINPS", hi, z(0), z(0))
		f.op("VCVTPS2DQ", z(0), z(1))
		f.op("VCVTDQ2PS", z(1), z(2))
		f.op("VSUBPS", z(2), z(0), z(2))
		f.op("VANDPS", z(26), z(2), z(2))
		f.op("VCMPPS", notLess, z(25), z(2), "K1")
		f.op("KORTESTW", "K1", "K1")
		f.op("JNZ", divide)
		f.mark(store)
		f.op("VPADDD", zero, z(1), z(1))
		f.op("VPMOVDB", z(1), at("DI", 0))
		f.op("ADDQ", 64, "SI")
		f.op("ADDQ", 16, "DI")
	})
	f.ret()
	f.mark(divide)
	f.op("VMOVUPS", "(SI)", z(0))
	f.op("VDIVPS", scale, z(0), z(0))
	f.op("VMAXPS", lo, z(0), z(0))
	f.op("VMINPS", hi, z(0), z(0))
	f.op("VCVTPS2DQ", z(0), z(1))
	f.op("JMP", store)
}
