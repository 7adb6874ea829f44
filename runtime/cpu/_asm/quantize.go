package main

// quantizers writes the kernels that turn floats into bytes and back by one scale, 16
// elements at a time. Registers: DI the result, SI the operand, CX how many elements,
// a positive multiple of 16, BX the quantum.
func quantizers(f *file) {
	low := f.words("lowBytes", 0xff)
	begin := func() {
		f.load("dst", "DI", "x", "SI", "n", "CX", "q", "BX")
		f.op("SHRQ", 4, "CX")
	}
	f.fun("quantizeBytesAVX512 computes dst[i] as QuantizeScalar does.", "quantizeBytesAVX512", "dst *byte, x *float32, n int, q *quantum", "")
	begin()
	for i, field := range []string{"scale", "lo", "hi", "zero"} {
		f.op("VBROADCASTSS", "quantum_"+field+"(BX)", z(28+i))
	}
	f.loop("CX", func() {
		f.op("VMOVUPS", at("SI", 0), z(0))
		f.op("VDIVPS", z(28), z(0), z(0))
		f.op("VMAXPS", z(29), z(0), z(0))
		f.op("VMINPS", z(30), z(0), z(0))
		f.op("VCVTPS2DQ", z(0), z(0))
		f.op("VPADDD", z(31), z(0), z(0))
		f.op("VPMOVDB", z(0), at("DI", 0))
		f.op("ADDQ", 64, "SI")
		f.op("ADDQ", 16, "DI")
	})
	f.ret()

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
}
