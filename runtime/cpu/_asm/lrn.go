package main

import "math"

// lrns writes the kernels of local response normalisation over blocks of 16 channels.
func lrns(f *file) {
	numbers := f.floats("lrnNumbers", 0.5, math.MaxFloat32)
	for _, s := range f.sets() {
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
		scale, bias := s.reg(v), s.reg(v+1)
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

		f.fun("lrnRoot"+s.name+` divides n times 16 numbers by the power 3/4 of others, which are at
least 1e-20, by way of q = 1/√dst[i] to the last bit or two. Infinity counts as the largest number.
	dst[i] = x[i]·q·√q`,
			"lrnRoot"+s.name, "dst, x *float32, n int", "")
		f.load("dst", "DI", "x", "SI", "n", "CX")
		estimate := map[string]string{"AVX2": "VRSQRTPS", "AVX512": "VRSQRT14PS"}[s.name]
		half, largest, one := s.reg(12), s.reg(13), s.reg(14)
		f.op("VBROADCASTSS", numbers, half)
		f.op("VBROADCASTSS", "lrnNumbers<>+4(SB)", largest)
		if estimate == "" {
			f.op("VADDPS", half, half, one)
		}
		f.loop("CX", func() {
			for i := range v {
				sum, q, h := s.reg(3*i), s.reg(3*i+1), s.reg(3*i+2)
				f.op("VMOVUPS", at("DI", i*s.bytes), sum)
				f.op("VMINPS", sum, largest, sum)
				if estimate == "" {
					f.op("VSQRTPS", sum, q)
					f.op("VDIVPS", q, one, q)
				} else {
					f.op(estimate, sum, q)
					// One step of Newton's: q += q·(½ − ½·sum·q·q).
					f.op("VMULPS", half, sum, sum)
					f.op("VMULPS", q, sum, sum)
					f.op("VMOVAPS", half, h)
					f.op("VFNMADD231PS", sum, q, h)
					f.op("VFMADD231PS", h, q, q)
				}
				f.op("VSQRTPS", q, h)
				f.op("VMULPS", at("SI", i*s.bytes), q, q)
				f.op("VMULPS", h, q, q)
				f.op("VMOVUPS", q, at("DI", i*s.bytes))
			}
			f.op("ADDQ", 64, "SI")
			f.op("ADDQ", 64, "DI")
		})
		f.ret()
	}
}
