package main

// lrns writes the kernels of local response normalisation over blocks of 16 channels.
func lrns(f *file) {
	for _, s := range isas {
		v := s.perTile
		f.fun("lrnSquares"+s.name+` squares n pixels, to leave them 48 numbers apart.
	squares[i][j] = x[i][j]²`,
			"lrnSquares"+s.name, "squares, x *float32, n int", "")
		f.load("squares", "DI", "x", "SI", "n", "CX")
		f.loop("CX", func() {
			for i := range v {
				f.op("VMOVUPS", at("SI", i*s.bytes), s.reg(i))
				f.op("VMULPS", s.reg(i), s.reg(i), s.reg(i))
				f.op("VMOVUPS", s.reg(i), at("DI", i*s.bytes))
			}
			f.op("ADDQ", 64, "SI")
			f.op("ADDQ", 48*4, "DI")
		})
		f.ret()

		f.fun("lrnBase"+s.name+` writes what is raised to a power for n pixels.
	dst[i][j] = bias + scale·Σ squares[i][j…j+size-1]`,
			"lrnBase"+s.name, "dst, squares *float32, n, size int, scale, bias float32", "")
		f.load("dst", "DI", "squares", "SI", "n", "CX")
		scale, bias := s.reg(2), s.reg(3)
		f.op("VBROADCASTSS", f.arg("scale"), scale)
		f.op("VBROADCASTSS", f.arg("bias"), bias)
		f.loop("CX", func() {
			f.op("MOVQ", "SI", "BX")
			f.op("MOVQ", f.arg("size"), "DX")
			for i := range v {
				f.op(s.clear, s.reg(i), s.reg(i), s.reg(i))
			}
			f.loop("DX", func() {
				for i := range v {
					f.op("VADDPS", at("BX", i*s.bytes), s.reg(i), s.reg(i))
				}
				f.op("ADDQ", 4, "BX")
			})
			for i := range v {
				f.op("VMULPS", scale, s.reg(i), s.reg(i))
				f.op("VADDPS", bias, s.reg(i), s.reg(i))
				f.op("VMOVUPS", s.reg(i), at("DI", i*s.bytes))
			}
			f.op("ADDQ", 48*4, "SI")
			f.op("ADDQ", 64, "DI")
		})
		f.ret()

		f.fun("lrnRoot"+s.name+` divides n times 16 numbers by the power 3/4 of others.
	dst[i] = x[i] / (√dst[i]·√√dst[i])`,
			"lrnRoot"+s.name, "dst, x *float32, n int", "")
		f.load("dst", "DI", "x", "SI", "n", "CX")
		f.loop("CX", func() {
			for i := range v {
				root, fourth, x := s.reg(3*i), s.reg(3*i+1), s.reg(3*i+2)
				f.op("VSQRTPS", at("DI", i*s.bytes), root)
				f.op("VSQRTPS", root, fourth)
				f.op("VMULPS", root, fourth, root)
				f.op("VMOVUPS", at("SI", i*s.bytes), x)
				f.op("VDIVPS", root, x, x)
				f.op("VMOVUPS", x, at("DI", i*s.bytes))
			}
			f.op("ADDQ", 64, "SI")
			f.op("ADDQ", 64, "DI")
		})
		f.ret()
	}
}
