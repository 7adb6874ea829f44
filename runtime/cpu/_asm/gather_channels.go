package main

func gatherChannels(f *file) {
	for _, s := range isas {
		f.fun(`moveLanes`+s.name+` computes what moveLanesRef does for n pixels.
	dst[i][j] = src[i][from[j]] where used[j]`,
			"moveLanes"+s.name, "dst, src *float32, from, used *[16]int32, n int", "")
		f.load("dst", "DI", "src", "SI", "from", "AX", "used", "BX", "n", "CX")
		if s.wide() {
			f.op("VMOVDQU32", "(AX)", z(0))
			f.op("VMOVDQU32", "(BX)", z(1))
			f.op("VPTESTMD", z(1), z(1), "K1")
			f.loop("CX", func() {
				f.op("VPERMPS", "(SI)", z(0), z(2))
				f.op("VMOVUPS", z(2), "K1", "(DI)")
				f.op("ADDQ", 64, "SI")
				f.op("ADDQ", 64, "DI")
			})
			f.ret()
			continue
		}
		from := func(half int) string { return y(half) }
		upper := func(half int) string { return y(2 + half) } // the register of elements in the upper half
		used := func(half int) string { return y(4 + half) }
		for half := range 2 {
			f.op("VMOVDQU", at("AX", 32*half), from(half))
			f.op("VPSLLD", 28, from(half), upper(half))
			f.op("VMOVDQU", at("BX", 32*half), used(half))
		}
		f.loop("CX", func() {
			for half := range 2 {
				f.op("VPERMPS", "(SI)", from(half), y(6))
				f.op("VPERMPS", "32(SI)", from(half), y(7))
				f.op("VBLENDVPS", upper(half), y(7), y(6), y(6))
				f.op("VMOVUPS", at("DI", 32*half), y(7))
				f.op("VBLENDVPS", used(half), y(6), y(7), y(6))
				f.op("VMOVUPS", y(6), at("DI", 32*half))
			}
			f.op("ADDQ", 64, "SI")
			f.op("ADDQ", 64, "DI")
		})
		f.ret()
	}
	f.fun(`moveBytesAVX2 computes what moveBytesRef does for n pixels.
	dst[i][j] = src[i][from[j]] where from[j] < 16, else from[j] is 128`,
		"moveBytesAVX2", "dst, src *uint8, from *[16]uint8, n int", "")
	f.load("dst", "DI", "src", "SI", "from", "AX", "n", "CX")
	f.op("VBROADCASTI128", "(AX)", y(0))
	move := func(register func(int) string, step int) {
		f.op("VMOVDQU", "(SI)", register(1))
		f.op("VPSHUFB", register(0), register(1), register(1))
		f.op("VPBLENDVB", register(0), "(DI)", register(1), register(1))
		f.op("VMOVDQU", register(1), "(DI)")
		f.op("ADDQ", step, "SI")
		f.op("ADDQ", step, "DI")
	}
	odd, end := f.fresh("odd"), f.fresh("end")
	f.op("MOVQ", "CX", "BX")
	f.op("SHRQ", 1, "CX")
	f.op("JZ", odd)
	f.loop("CX", func() { move(y, 32) })
	f.mark(odd)
	f.op("ANDQ", 1, "BX")
	f.op("JZ", end)
	move(x, 16)
	f.mark(end)
	f.ret()
	const begin = "n := len(dst) / 16\nif n == 0 {\nreturn\n}\n_ = src[16*n-1]"
	f.dispatch(dispatch{
		doc:      "moveLanes is moveLanesRef in assembly.",
		function: "moveLanes(dst, src []float32, from, used *[16]int32)", before: begin,
		kernels: only("moveLanes"), args: "&dst[0], &src[0], from, used, n", otherwise: "moveLanesRef(dst, src, from, used)",
	})
	f.dispatch(dispatch{
		doc:      "moveBytes is moveBytesRef in assembly.",
		function: "moveBytes(dst, src []uint8, from *[16]uint8)", before: begin, variants: []variant{{"level >= AVX2", "AVX2"}},
		kernels: only("moveBytes"), args: "&dst[0], &src[0], from, n", otherwise: "moveBytesRef(dst, src, from)",
	})
}
