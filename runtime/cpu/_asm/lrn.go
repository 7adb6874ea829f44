package main

import "math"

func lrns(f *file) {
	numbers := f.floats("lrnNumbers", 0.5, math.MaxFloat32)
	for _, s := range f.sets() {
		v := s.perTile
		f.fun("lrnSquares"+s.name+` squares n pixels. The results of pixels are 48 numbers apart.
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

		f.fun("lrnBase"+s.name+` computes the base of the power for n pixels.
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

		f.fun("lrnRoot"+s.name+` divides n times 16 numbers by dst[i] to the power ¾. dst[i] is at least
1e-20. q = 1/√dst[i] is correct but for the last bit or two. Infinity counts as the largest number.
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
					// One step of Newton's method: q += q·(½ − ½·sum·q·q).
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
	f.dispatch(dispatch{
		doc:      "lrnSquares is lrnSquaresRef in assembly.",
		function: "lrnSquares(squares, x []float32)", before: "n := len(x) / 16\n_ = squares[48*(n-1)+15]",
		kernels: only("lrnSquares"), args: "&squares[0], &x[0], n", otherwise: "lrnSquaresRef(squares, x)",
	})
	f.dispatch(dispatch{
		doc:      "lrnBase is lrnBaseRef in assembly.",
		function: "lrnBase(dst, squares []float32, size int, scale, bias float32)", before: "n := len(dst) / 16\n_ = squares[48*(n-1)+15+size-1]",
		kernels: only("lrnBase"), args: "&dst[0], &squares[0], n, size, scale, bias", otherwise: "lrnBaseRef(dst, squares, size, scale, bias)",
	})
	f.dispatch(dispatch{
		doc:      "lrnRoots is lrnRootRef in assembly for a positive multiple of 16 elements.",
		function: "lrnRoots(dst, x []float32)",
		kernels:  only("lrnRoot"), args: "&dst[0], &x[0], len(dst)/16", otherwise: "lrnRootRef(dst, x)",
	})
}
