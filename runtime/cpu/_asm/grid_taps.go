package main

func gridTaps(f *file) {
	f.fun(`sumTapsAVX2 computes what sumTapsRef does for n points, a multiple of 8.
	dst[i] = sum of weights[t*stride+i] * src[index[t*stride+i]] for t < taps where the index is not -1`,
		"sumTapsAVX2", "dst, src *float32, index *int32, weights *float32, n, taps, stride int", "")
	f.load("dst", "DI", "src", "SI", "index", "AX", "weights", "BX", "n", "CX", "taps", "DX", "stride", "R8")
	f.op("SHRQ", 3, "CX")
	f.op("SHLQ", 2, "R8")
	f.op("VPCMPEQD", y(7), y(7), y(7))
	f.loop("CX", func() {
		f.op("MOVQ", "AX", "R9")
		f.op("MOVQ", "BX", "R10")
		f.op("MOVQ", "DX", "R11")
		f.op("VXORPS", y(0), y(0), y(0))
		f.loop("R11", func() {
			f.op("VMOVDQU", "(R9)", y(1))
			f.op("VPXOR", y(7), y(1), y(2)) // the sign bits of elements inside
			f.op("VXORPS", y(3), y(3), y(3))
			f.op("VGATHERDPS", y(2), "(SI)("+y(1)+"*4)", y(3))
			f.op("VMULPS", "(R10)", y(3), y(3))
			f.op("VADDPS", y(3), y(0), y(0))
			f.op("ADDQ", "R8", "R9")
			f.op("ADDQ", "R8", "R10")
		})
		f.op("VMOVUPS", y(0), "(DI)")
		f.op("ADDQ", 32, "DI")
		f.op("ADDQ", 32, "AX")
		f.op("ADDQ", 32, "BX")
	})
	f.ret()
	f.dispatch(dispatch{
		doc:      "sumTapsByEights is sumTapsRef in assembly. len(dst) is a multiple of 8. It reports whether there is\nassembly.",
		function: "sumTapsByEights(dst, src []float32, index []int32, weights []float32, taps, stride int)", before: "if len(dst) < 8 || taps == 0 {\nreturn len(dst) == 0\n}\nlast := (taps-1)*stride + len(dst) - 1\n_, _, _ = src[0], index[last], weights[last]",
		variants: []variant{{"level >= AVX2", "AVX2"}}, kernels: only("sumTaps"),
		args: "&dst[0], &src[0], &index[0], &weights[0], len(dst), taps, stride", result: done,
	})
}
