package main

// transposes writes the kernel that transposes squares of 8×8, for AVX2 or for NEON. It
// has no wider variant, for its shuffles would not be faster.
func transposes(f *file) {
	f.fun(`transposeSquare transposes n squares of 8×8 numbers. Distances are in bytes: from row to row
in a square, and from a square to the next.
	dst[c][r] = src[r][c]`,
		"transposeSquare", "dst, src unsafe.Pointer, dstRow, srcRow, dstNext, srcNext, n int", "")
	f.load("dst", "DI", "src", "SI", "dstRow", "R8", "srcRow", "DX", "dstNext", "R10", "srcNext", "R11", "n", "CX")
	if f.arch == "arm64" {
		f.loop("CX", f.transposeByPairs)
		f.ret()
		return
	}
	f.op("LEAQ", "(DX)(DX*2)", "AX")
	f.op("LEAQ", "(R8)(R8*2)", "R9")
	fourth := func(base, one, three string, r, disp int) string {
		return [...]string{at(base, disp), indexed(base, disp, one, 1), indexed(base, disp, one, 2), indexed(base, disp, three, 1)}[r]
	}
	f.loop("CX", func() {
		// Rows r and r+4 share a register, so that unpacking finishes the columns.
		f.op("LEAQ", "(SI)(DX*4)", "BX")
		f.op("LEAQ", "(DI)(R8*4)", "R12")
		for half := range 2 {
			for r := range 4 {
				f.op("VMOVUPS", fourth("SI", "DX", "AX", r, 16*half), x(r))
				f.op("VINSERTF128", 1, fourth("BX", "DX", "AX", r, 16*half), y(r), y(r))
			}
			f.op("VUNPCKLPS", y(1), y(0), y(4))
			f.op("VUNPCKHPS", y(1), y(0), y(5))
			f.op("VUNPCKLPS", y(3), y(2), y(6))
			f.op("VUNPCKHPS", y(3), y(2), y(7))
			base := [...]string{"DI", "R12"}[half]
			for c := range 4 {
				unpack := [...]string{"VUNPCKLPD", "VUNPCKHPD"}[c%2]
				f.op(unpack, y(6+c/2), y(4+c/2), y(8+c))
				f.op("VMOVUPS", y(8+c), fourth(base, "R8", "R9", c, 0))
			}
		}
		f.op("ADDQ", "R10", "DI")
		f.op("ADDQ", "R11", "SI")
	})
	f.ret()
}

// transposeByPairs transposes a square in four blocks of 4×4: pairs of numbers change
// places, then pairs of pairs.
func (f *file) transposeByPairs() {
	trn := func(which, lanes string, a, b, to int) {
		f.line("VTRN"+which, v(b)+lanes, v(a)+lanes, v(to)+lanes)
	}
	f.op("MOVQ", "SI", "BX")
	for r := range 8 {
		f.line("FLDPQ", at(general("BX"), 0), pair(2*r))
		f.op("ADDQ", "DX", "BX")
	}
	f.op("MOVQ", "DI", "BX")
	for half := range 2 {
		for g := range 2 {
			row, to := func(r int) int { return 2*(4*g+r) + half }, 20+g
			trn("1", ".S4", row(0), row(1), 16)
			trn("2", ".S4", row(0), row(1), 17)
			trn("1", ".S4", row(2), row(3), 18)
			trn("2", ".S4", row(2), row(3), 19)
			trn("1", ".D2", 16, 18, to)
			trn("1", ".D2", 17, 19, to+2)
			trn("2", ".D2", 16, 18, to+4)
			trn("2", ".D2", 17, 19, to+6)
		}
		for c := range 4 {
			f.line("FSTPQ", pair(20+2*c), at(general("BX"), 0))
			f.op("ADDQ", "R8", "BX")
		}
	}
	f.op("ADDQ", "R10", "DI")
	f.op("ADDQ", "R11", "SI")
}
