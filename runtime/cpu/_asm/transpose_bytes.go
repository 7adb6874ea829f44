package main

// byteTransposes writes the kernels that transpose bytes. They transpose squares of 8×8. With
// AVX-512 they also transpose 16 rows of 64 and 64 rows of 16. Registers: DI points to the result
// and SI to the operand. R8 and DX are the distances between their rows, and R10 and R11 the
// distances to the next square. CX is the number of squares.
func byteTransposes(f *file) {
	begin := func(name, what string) {
		f.fun(name+` transposes n times `+what+`. Each byte is XORed with change,
which holds it four times. dstRow and srcRow are the distances in bytes between rows, dstNext and srcNext
those between squares.`,
			name, "dst, src *byte, dstRow, srcRow, dstNext, srcNext, n int, change uint32", "")
		f.load("dst", "DI", "src", "SI", "dstRow", "R8", "srcRow", "DX", "dstNext", "R10", "srcNext", "R11", "n", "CX")
	}
	next := func() {
		f.op("ADDQ", "R10", "DI")
		f.op("ADDQ", "R11", "SI")
	}

	begin("transposeBytes8AVX2", "8 rows of 8 bytes")
	f.op("VBROADCASTSS", f.arg("change"), x(15))
	f.loop("CX", func() {
		f.op("MOVQ", "SI", "BX")
		for r := range 8 {
			f.op("VMOVQ", "(BX)", x(r))
			f.op("ADDQ", "DX", "BX")
		}
		// Interleaving rows r and r+4 three times gives columns.
		for i := range 4 {
			f.op("VPUNPCKLBW", x(i+4), x(i), x(8+i))
			f.op("VPXOR", x(15), x(8+i), x(8+i))
		}
		shuffleBytes(f, x, 4, 8, 0)
		shuffleBytes(f, x, 4, 0, 8)
		f.op("MOVQ", "DI", "BX")
		for i := range 4 {
			f.op("VMOVQ", x(8+i), "(BX)")
			f.op("VMOVHPS", x(8+i), "(BX)(R8*1)")
			f.op("LEAQ", "(BX)(R8*2)", "BX")
		}
		next()
	})
	f.ret()

	begin("transposeBytesWideAVX512", "16 rows of 64 bytes")
	f.op("VBROADCASTSS", f.arg("change"), z(31))
	f.loop("CX", func() {
		f.op("MOVQ", "SI", "BX")
		for r := range 16 {
			f.op("VPXORD", "(BX)", z(31), z(r))
			if r < 15 {
				f.op("ADDQ", "DX", "BX")
			}
		}
		transposeLanes(f)
		f.op("MOVQ", "DI", "BX")
		for lane := range 4 {
			for r := range 16 {
				if lane == 0 {
					f.op("VMOVUPS", x(r), "(BX)")
				} else {
					f.op("VEXTRACTI32X4", lane, z(r), "(BX)")
				}
				f.op("ADDQ", "R8", "BX")
			}
		}
		f.op("VBROADCASTSS", f.arg("change"), z(31))
		next()
	})
	f.ret()

	begin("transposeBytesTallAVX512", "64 rows of 16 bytes")
	f.loop("CX", func() {
		f.op("MOVQ", "SI", "BX")
		for lane := range 4 {
			for r := range 16 {
				if lane == 0 {
					f.op("VMOVUPS", "(BX)", x(r))
				} else {
					f.op("VINSERTI32X4", lane, "(BX)", z(r), z(r))
				}
				f.op("ADDQ", "DX", "BX")
			}
		}
		transposeLanes(f)
		f.op("VBROADCASTSS", f.arg("change"), z(31))
		f.op("MOVQ", "DI", "BX")
		for r := range 16 {
			f.op("VPXORD", z(31), z(r), z(r))
			f.op("VMOVUPS", z(r), "(BX)")
			f.op("ADDQ", "R8", "BX")
		}
		next()
	})
	f.ret()
	f.has("TransposeBytes")
	for _, v := range []variant{{"8", "AVX2"}, {"Wide", "AVX512"}, {"Tall", "AVX512"}} {
		name := "transposeBytes" + v.when
		f.dispatch(dispatch{
			doc:      name + " is " + name + v.suffix + ".",
			function: name + "(dst, src *byte, dstRow, srcRow, dstNext, srcNext, n int, change uint32)",
			variants: []variant{{"level >= " + v.suffix, v.suffix}},
			kernels:  only(name), args: "dst, src, dstRow, srcRow, dstNext, srcNext, n, change",
		})
	}
}

// transposeLanes transposes 16×16 bytes in each 128-bit lane of the first 16 registers. It calls
// shuffleBytes four times. Each time, one bit of a byte's column index becomes a bit of its row
// index.
func transposeLanes(f *file) {
	for stage := range 4 {
		shuffleBytes(f, z, 16, 16*(stage%2), 16-16*(stage%2))
	}
}

// shuffleBytes interleaves the bytes of pairs of registers. There are n registers, from number
// `from` on. For i < n/2, it interleaves registers from+i and from+n/2+i, and writes the result to
// registers to+2·i and to+2·i+1.
func shuffleBytes(f *file, reg func(int) string, n, from, to int) {
	for i := range n / 2 {
		a, b := reg(from+i), reg(from+n/2+i)
		f.op("VPUNPCKLBW", b, a, reg(to+2*i))
		f.op("VPUNPCKHBW", b, a, reg(to+2*i+1))
	}
}
