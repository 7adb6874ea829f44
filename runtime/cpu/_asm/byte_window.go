package main

import "fmt"

// byteWindows writes the kernels of depthwise convolutions of bytes. Each kernel computes rows of
// pixels of one block of 16 channels. A cell is one position of a window, with its 16 channels.
//
// Registers: R14 points to the byteWindow. SI points to the first cell of a pixel's window, R8 to
// the first cell of the current row of the window, and R9 to the current cells of this row. DI
// points to the weights, DX to the result, and BX to the columns. R10 and CX are counters.
func byteWindows(f *file) {
	f.dispatch(dispatch{
		doc:      "runByteWindow calls the level's kernel for windows over bytes.",
		function: "runByteWindow(t *byteWindow)", before: "if t.cell != 16 {\nbyteWindowRef(t)\nreturn\n}", variants: f.byteVariants(),
		kernels: only("byteWindow"), args: "t", otherwise: "byteWindowRef(t)",
	})
	if f.arch == "arm64" {
		byteWindowNEON(f)
		return
	}
	// The multiply-add needs four cells of one channel side by side. The first shuffle leaves four
	// channels of each of four pixels in a lane; the second sorts them by channel.
	pixels := f.words("fourPixels", 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)
	bytes := f.words("fourBytes", 0x0c080400, 0x0d090501, 0x0e0a0602, 0x0f0b0703)
	low := f.words("lowByteOnly", 0xff)

	f.fun("byteWindowVNNI computes what byteWindowRef does where cells of a row are neighbours.", "byteWindowVNNI", "t *byteWindow", "")
	f.startWindow()
	f.op("VMOVDQU32", pixels, z(31))
	f.op("VBROADCASTI32X4", bytes, z(30))
	f.op("VBROADCASTSS", "byteWindow_lo(R14)", z(29))
	f.op("VBROADCASTSS", "byteWindow_hi(R14)", z(28))
	f.op("VPBROADCASTD", "byteWindow_last(R14)", z(27))
	f.op("VMOVUPS", "byteColumns_scale(BX)", z(26))
	f.op("VMOVUPS", "byteColumns_less(BX)", z(25))
	f.op("VMOVUPS", "byteColumns_first(BX)", z(24))
	f.op("MOVQ", "byteWindow_rest(R14)", "CX")
	f.op("SHLQ", 2, "CX")
	f.op("MOVL", 0xffff, "AX")
	f.op("BZHIL", "CX", "AX", "AX")
	f.op("KMOVW", "AX", "K1")
	f.windowPixels(func() {
		f.op("VMOVAPS", z(24), z(0))
	}, func() {
		f.op("VPERMD", at("R9", 0), z(31), z(1))
		f.op("VPSHUFB", z(30), z(1), z(1))
		f.op("VPDPBUSD", at("DI", 0), z(1), z(0))
	}, func() {
		f.op("VMOVDQU32.Z", at("R9", 0), "K1", z(1))
		f.op("VPERMD", z(1), z(31), z(1))
		f.op("VPSHUFB", z(30), z(1), z(1))
		f.op("VPDPBUSD", at("DI", 0), z(1), z(0))
	}, func() {
		f.op("VCVTDQ2PS", z(0), z(0))
		f.op("VMULPS", z(25), z(0), z(1))
		f.op("VFMADD231PS", z(26), z(0), z(1))
		f.op("VMAXPS", z(29), z(1), z(1))
		f.op("VMINPS", z(28), z(1), z(1))
		f.op("VCVTPS2DQ", z(1), z(1))
		f.op("VPADDD", z(27), z(1), z(1))
		f.op("VPMOVDB", z(1), at("DX", 0))
	})

	f.fun("byteWindowAVX2 computes what byteWindowRef does where cells of a row are neighbours.", "byteWindowAVX2", "t *byteWindow", "")
	f.startWindow()
	f.op("VBROADCASTSS", "byteWindow_lo(R14)", y(15))
	f.op("VBROADCASTSS", "byteWindow_hi(R14)", y(14))
	f.op("VPBROADCASTD", "byteWindow_last(R14)", y(13))
	f.op("VPBROADCASTD", low, y(12))
	// cells adds the products of n ≤ 4 cells. The missing cells count as zero.
	cells := func(n int) {
		for i := range n {
			for half := range 2 {
				f.op("VPMOVZXBD", at("R9", 16*i+8*half), y(2))
				f.op("VMOVDQU", at("DI", 32*half), y(3))
				if i < 3 {
					f.op("VPSLLD", 24-8*i, y(3), y(3))
				}
				f.op("VPSRAD", 24, y(3), y(3))
				f.op("VPMADDWD", y(3), y(2), y(2))
				f.op("VPADDD", y(2), y(half), y(half))
			}
		}
	}
	f.windowPixels(func() {
		f.op("VMOVDQU", "byteColumns_first(BX)", y(0))
		f.op("VMOVDQU", "(byteColumns_first+32)(BX)", y(1))
	}, func() { cells(4) }, func() { f.restOfCells(cells) }, func() {
		for half, s := range []string{"", "+32"} {
			f.op("VCVTDQ2PS", y(half), y(half))
			f.op("VMULPS", "(byteColumns_less"+s+")(BX)", y(half), y(2))
			f.op("VFMADD231PS", "(byteColumns_scale"+s+")(BX)", y(half), y(2))
			f.op("VMAXPS", y(15), y(2), y(2))
			f.op("VMINPS", y(14), y(2), y(2))
			f.op("VCVTPS2DQ", y(2), y(2))
			f.op("VPADDD", y(13), y(2), y(2))
			f.op("VPAND", y(12), y(2), y(half))
		}
		f.op("VPACKUSDW", y(1), y(0), y(0))
		f.op("VPERMQ", 0xd8, y(0), y(0))
		f.op("VEXTRACTI128", 1, y(0), x(1))
		f.op("VPACKUSWB", x(1), x(0), x(0))
		f.op("VMOVDQU", x(0), at("DX", 0))
	})
}

// restOfCells writes the code for the cells that are left at the end of a row of a window. There
// are one, two or three; at run time, the field `rest` of byteWindow holds their number. cells(n)
// writes the code for n cells.
func (f *file) restOfCells(cells func(n int)) {
	two, one, done := f.fresh("two"), f.fresh("one"), f.fresh("done")
	f.op("CMPQ", "byteWindow_rest(R14)", 2)
	f.op("JLT", one)
	f.op("JEQ", two)
	cells(3)
	f.op("JMP", done)
	f.mark(two)
	cells(2)
	f.op("JMP", done)
	f.mark(one)
	cells(1)
	f.mark(done)
}

// byteWindowNEON writes the kernel for NEON. Registers 0 to 3 hold the sums. Registers 5 to 7 hold
// the fields lo, hi and last of the byteWindow.
func byteWindowNEON(f *file) {
	f.fun("byteWindowNEON computes what byteWindowRef does where cells of a row are neighbours.", "byteWindowNEON", "t *byteWindow", "")
	f.startWindow()
	f.op("VBROADCASTSS", "byteWindow_lo(R14)", v(5))
	f.op("VBROADCASTSS", "byteWindow_hi(R14)", v(6))
	f.op("VPBROADCASTD", "byteWindow_last(R14)", v(7))
	column := func(field string, i int) string { return fmt.Sprintf("(byteColumns_%s+%d)(BX)", field, 16*i) }
	cells := func(n int) {
		const weights, cell = 16, 20
		f.loadByFours("VLD4", at(general("DI"), 0), weights)
		for i := range n {
			f.op("VMOVDQU", at("R9", 16*i), v(cell))
			f.line("VUSHLL2", 0, b16(cell), v(cell+2)+".H8")
			f.line("VUSHLL", 0, v(cell)+".B8", v(cell+1)+".H8")
			f.word("sshll", cell+3, weights+i, 0, 0)
			f.word("sshll2", cell+4, weights+i, 0, 0)
			for half := range 2 {
				f.word("smlal.vectors", 2*half, cell+1+half, cell+3+half, 0)
				f.word("smlal2.vectors", 2*half+1, cell+1+half, cell+3+half, 0)
			}
		}
	}
	f.windowPixels(func() {
		for i := range 4 {
			f.op("VMOVDQU", column("first", i), v(i))
		}
	}, func() { cells(4) }, func() { f.restOfCells(cells) }, func() {
		for i := range 4 {
			f.op("VCVTDQ2PS", v(i), v(i))
			f.op("VMULPS", column("less", i), v(i), v(4))
			f.op("VFMADD231PS", column("scale", i), v(i), v(4))
			f.op("VMAXPS", v(5), v(4), v(4))
			f.op("VMINPS", v(6), v(4), v(4))
			f.op("VCVTPS2DQ", v(4), v(4))
			f.op("VPADDD", v(7), v(4), v(i))
		}
		f.narrow(0, "DX")
	})
}

// startWindow writes the start of a kernel. It loads the pointer to the byteWindow. From the
// byteWindow it loads the input, the result, the columns and the number of pixels.
func (f *file) startWindow() {
	f.load("t", "R14")
	f.op("MOVQ", "byteWindow_a(R14)", "SI")
	f.op("MOVQ", "byteWindow_c(R14)", "DX")
	f.op("MOVQ", "byteWindow_columns(R14)", "BX")
	f.op("MOVQ", "byteWindow_n(R14)", "R11")
}

// windowPixels writes three nested loops: over pixels, over rows of a window, and over groups of
// four cells of a row. `begin` writes the code before the cells of a pixel, and `end` the code
// after them. `four` writes the code for four cells. `rest` writes the code for the cells that are
// left at the end of a row.
func (f *file) windowPixels(begin, four, rest, end func()) {
	pixel := f.fresh("pixel")
	f.op("PCALIGN", 32)
	f.mark(pixel)
	begin()
	f.op("MOVQ", "SI", "R8")
	f.op("MOVQ", "byteWindow_b(R14)", "DI")
	f.op("MOVQ", "byteWindow_rows(R14)", "R10")
	f.loop("R10", func() {
		last, next := f.fresh("last"), f.fresh("next")
		f.op("MOVQ", "R8", "R9")
		f.op("MOVQ", "byteWindow_fours(R14)", "CX")
		f.op("TESTQ", "CX", "CX")
		f.op("JZ", last)
		f.loop("CX", func() {
			four()
			f.op("ADDQ", 64, "DI")
			f.op("ADDQ", 64, "R9")
		})
		f.mark(last)
		f.op("CMPQ", "byteWindow_rest(R14)", 0)
		f.op("JEQ", next)
		rest()
		f.op("ADDQ", 64, "DI")
		f.mark(next)
		f.op("ADDQ", "byteWindow_rowA(R14)", "R8")
	})
	end()
	f.op("ADDQ", "byteWindow_stepA(R14)", "SI")
	f.op("ADDQ", 16, "DX")
	f.op("DECQ", "R11")
	f.op("JNZ", pixel)
	f.ret()
}

func maxRows(f *file) {
	name := "maxRow" + f.sets()[0].name
	f.fun(name+" computes what maxRowRef does.", name, "t *maxRow", "")
	f.load("t", "R14")
	f.op("MOVQ", "maxRow_a(R14)", "SI")
	f.op("MOVQ", "maxRow_c(R14)", "DX")
	f.op("MOVQ", "maxRow_n(R14)", "R11")
	f.op("MOVQ", "maxRow_cell(R14)", "BX")
	f.loop("R11", func() {
		f.op("MOVQ", "SI", "R8")
		f.op("VPXOR", x(0), x(0), x(0))
		f.op("MOVQ", "maxRow_rows(R14)", "R10")
		f.loop("R10", func() {
			f.op("MOVQ", "R8", "R9")
			f.op("MOVQ", "maxRow_cells(R14)", "CX")
			f.loop("CX", func() {
				f.op("VPMAXUB", at("R9", 0), x(0), x(0))
				f.op("ADDQ", "BX", "R9")
			})
			f.op("ADDQ", "maxRow_rowA(R14)", "R8")
		})
		f.op("VMOVDQU", x(0), at("DX", 0))
		f.op("ADDQ", "maxRow_step(R14)", "SI")
		f.op("ADDQ", 16, "DX")
	})
	f.ret()
	f.dispatch(dispatch{
		doc:      "runMaxRow calls the level's kernel for pools of bytes.",
		function: "runMaxRow(t *maxRow)", variants: []variant{{"level != Generic", f.sets()[0].name}},
		kernels: only("maxRow"), args: "t", otherwise: "maxRowRef(t)",
	})
}
