package main

import (
	"fmt"
	"slices"
)

// pixelFamily writes the kernels of pictures of 8 bits: the conversion of a row from YCbCr to RGBA, and weighted sums of
// pixels along rows and along columns.
func pixelFamily(f *file) {
	f.ycbcrTables()
	f.ycbcr(true)
	f.ycbcr(false)
	f.scalePixels()
	for _, s := range f.sets() {
		f.sumPixelRows(s)
	}
	f.has("Pixels")
	f.dispatch(dispatch{
		doc: `ycbcrPart converts n pixels, at least 16. With shared, two pixels share their chroma, and n is even; see
ycbcrSharedAVX2.`,
		function: "ycbcrPart(shared bool, dst, luma, cb, cr *byte, n int)",
		variants: []variant{{"level >= AVX2", "AVX2"}},
		kernels:  []kernel{{when: "shared", name: "ycbcrShared"}, {name: "ycbcrSingle"}}, args: "dst, luma, cb, cr, n",
	})
	f.dispatch(dispatch{
		doc:      "scalePixelsPart computes groups of four pixels of a scaled row; see scalePixelsAVX2.",
		function: "scalePixelsPart(dst *byte, groups int, src *byte, starts, weights *int32, taps int)",
		variants: []variant{{"level >= AVX2", "AVX2"}},
		kernels:  only("scalePixels"), args: "dst, groups, src, starts, weights, taps",
	})
	f.dispatch(dispatch{
		doc:      "sumPixelRowsPart sums n bytes of rows, at least 64; see sumPixelRowsAVX2.",
		function: "sumPixelRowsPart(dst *byte, n int, rows *byte, stride, start, end int, weights *int32, taps int)",
		kernels:  only("sumPixelRows"), args: "dst, n, rows, stride, start, end, weights, taps",
	})
}

// Rows of the table of YCbCr, which hold 32 bytes.
const (
	luma0  = 32 * iota // order of bytes: a pixel's luma thrice, and 0; pixels 0…3 and 8…11
	luma4              // pixels 4…7 and 12…15
	widen0             // order of bytes: a byte and three zeros; pixels 0…3 and 8…11
	widen4             // pixels 4…7 and 12…15
)

func (f *file) ycbcrTables() {
	var words []uint32
	for _, copies := range []uint32{0x010101, 1} {
		for _, first := range []uint32{0, 4} {
			for i := range uint32(8) {
				pixel := first + i%4 + i/4*8
				words = append(words, copies*pixel|0x80808080&^(copies*0xff))
			}
		}
	}
	f.words("ycbcrOrders", words...)
	minus := func(n int32) uint32 { return uint32(-n) }
	f.words("ycbcrFactors", 91881, 116130, minus(22554), minus(46802), 128, 0x00ff00ff)
	f.words("pixelOrder", 0, 4, 1, 5, 2, 6, 3, 7)
	f.words("pixelPairs", 0, 0, 0, 0, 1, 1, 1, 1)
	f.words("pixelHalf", append(slices.Repeat([]uint32{1 << 21}, 4), 0, 0, 0, 0)...)
}

// ycbcr writes the conversion of 16 pixels at a time. Numbers of 32 bits, with 16 fractional bits, are in the order of
// [luma0] and [luma4]; instructions that work on lanes of 128 bits then bring the pixels into their order.
func (f *file) ycbcr(shared bool) {
	name, doc := "ycbcrSingleAVX2", "Each pixel has its own chroma."
	if shared {
		name, doc = "ycbcrSharedAVX2", "Two pixels share their chroma, and n is even."
	}
	f.fun(name+" converts n pixels, at least 16, as ycbcrRef does. "+doc+"\nThe last 16 pixels may be computed twice.",
		name, "dst, luma, cb, cr *byte, n int", "")
	f.load("dst", "DI", "luma", "SI", "cb", "R8", "cr", "R9", "n", "CX")
	for i := range 6 {
		f.op("VPBROADCASTD", entry("ycbcrFactors", 4*i), y(15-i))
	}
	const red, blue, greenOfBlue, greenOfRed, middle, alpha = 15, 14, 13, 12, 11, 10
	// chroma turns cb and cr into what they add to green, red and blue, in this order; cr is free then.
	chroma := func(cb, cr, r, b int) {
		f.op("VPSUBD", y(middle), y(cb), y(cb))
		f.op("VPSUBD", y(middle), y(cr), y(cr))
		f.op("VPMULLD", y(red), y(cr), y(r))
		f.op("VPMULLD", y(blue), y(cb), y(b))
		f.op("VPMULLD", y(greenOfBlue), y(cb), y(cb))
		f.op("VPMULLD", y(greenOfRed), y(cr), y(cr))
		f.op("VPADDD", y(cr), y(cb), y(cb))
	}
	f.blocks(16, func() {
		var first, second [3]int // registers of red, green and blue
		if shared {
			f.op("VPMOVZXBD", "(R8)(R11*1)", y(0))
			f.op("VPMOVZXBD", "(R9)(R11*1)", y(1))
			chroma(0, 1, 2, 3)
			first, second = [3]int{1, 4, 5}, [3]int{2, 0, 3}
			for c := range first {
				f.op("VPUNPCKLDQ", y(second[c]), y(second[c]), y(first[c]))
				f.op("VPUNPCKHDQ", y(second[c]), y(second[c]), y(second[c]))
			}
		} else {
			first, second = [3]int{2, 0, 3}, [3]int{5, 1, 6}
			f.op("VBROADCASTI128", "(R8)(R10*1)", y(6))
			f.op("VBROADCASTI128", "(R9)(R10*1)", y(7))
			f.op("VPSHUFB", entry("ycbcrOrders", widen0), y(6), y(0))
			f.op("VPSHUFB", entry("ycbcrOrders", widen0), y(7), y(1))
			chroma(0, 1, 2, 3)
			f.op("VPSHUFB", entry("ycbcrOrders", widen4), y(6), y(1))
			f.op("VPSHUFB", entry("ycbcrOrders", widen4), y(7), y(4))
			chroma(1, 4, 5, 6)
		}
		f.op("VBROADCASTI128", "(SI)(R10*1)", y(7))
		for i, half := range [][3]int{first, second} {
			f.op("VPSHUFB", entry("ycbcrOrders", luma0+i*(luma4-luma0)), y(7), y(8))
			for _, c := range half {
				f.op("VPADDD", y(8), y(c), y(c))
				f.op("VPSRAD", 16, y(c), y(c))
			}
		}
		for c := range first {
			f.op("VPACKSSDW", y(second[c]), y(first[c]), y(first[c]))
		}
		r, g, b := y(first[0]), y(first[1]), y(first[2])
		f.op("VPACKUSWB", b, r, r)
		f.op("VPACKUSWB", y(alpha), g, g)
		f.op("VPUNPCKHBW", g, r, b)
		f.op("VPUNPCKLBW", g, r, r)
		f.op("VPUNPCKHWD", b, r, g)
		f.op("VPUNPCKLWD", b, r, r)
		f.op("VPERM2I128", 0x20, g, r, b)
		f.op("VPERM2I128", 0x31, g, r, r)
		f.op("VMOVDQU", b, "(DI)(R10*4)")
		f.op("VMOVDQU", r, "32(DI)(R10*4)")
	})
	f.ret()
}

// entry returns the memory operand at a byte of a table.
func entry(name string, disp int) string { return fmt.Sprintf("%s<>+%d(SB)", name, disp) }

// blocks writes a loop over CX elements, in blocks of size n. The code of `body` handles the block that begins at
// element R10; R11 is half of R10. The last block overlaps the one before it, or is the only one.
func (f *file) blocks(n int, body func()) {
	next, end := f.fresh("block"), f.fresh("end")
	f.op("XORQ", "R10", "R10")
	f.op("SUBQ", n, "CX")
	f.mark(next)
	f.op("MOVQ", "R10", "R11")
	f.op("SHRQ", 1, "R11")
	body()
	f.op("CMPQ", "R10", "CX")
	f.op("JGE", end)
	f.op("ADDQ", n, "R10")
	f.op("CMPQ", "R10", "CX")
	f.op("CMOVQGT", "CX", "R10")
	f.op("JMP", next)
	f.mark(end)
}

// scalePixels writes the sums along a row, for four pixels at a time. A register holds the sums of the four channels for
// the taps with even numbers, and those for the other taps.
func (f *file) scalePixels() {
	f.fun(`scalePixelsAVX2 computes groups of four pixels, as scalePixelsRef does. Each pixel has as many weights as there
are taps, which are an even number.`,
		"scalePixelsAVX2", "dst *byte, groups int, src *byte, starts, weights *int32, taps int", "")
	f.load("dst", "DI", "groups", "CX", "src", "SI", "starts", "R12", "weights", "BX", "taps", "R15")
	f.op("LEAQ", "(R15*4)", "DX")
	f.op("LEAQ", "(DX)(DX*2)", "AX")
	f.op("SHRQ", 1, "R15")
	f.op("VMOVDQU", "pixelPairs<>(SB)", y(15))
	f.op("VMOVDQU", "pixelHalf<>(SB)", y(14))
	from := []string{"R8", "R9", "R10", "R11"}
	weights := []string{"(BX)", "(BX)(DX*1)", "(BX)(DX*2)", "(BX)(AX*1)"}
	f.loop("CX", func() {
		for i, r := range from {
			f.op("MOVLQSX", at("R12", 4*i), r)
			f.op("LEAQ", "(SI)("+r+"*4)", r)
			f.op("VMOVDQA", y(14), y(i))
		}
		f.op("MOVQ", "R15", "R13")
		f.loop("R13", func() {
			for i, r := range from {
				f.op("VPBROADCASTQ", weights[i], y(4+i))
				f.op("VPMOVZXBD", "("+r+")", y(8+i))
				f.op("VPERMILPS", y(15), y(4+i), y(4+i))
				f.op("VPMULLD", y(4+i), y(8+i), y(8+i))
				f.op("VPADDD", y(8+i), y(i), y(i))
			}
			for _, r := range append(from, "BX") {
				f.op("ADDQ", 8, r)
			}
		})
		f.op("ADDQ", "AX", "BX")
		f.op("ADDQ", 16, "R12")
		for i := range 2 {
			f.op("VPERM2I128", 0x20, y(i+2), y(i), y(4))
			f.op("VPERM2I128", 0x31, y(i+2), y(i), y(5))
			f.op("VPADDD", y(5), y(4), y(i))
			f.op("VPSRAD", 22, y(i), y(i))
		}
		f.op("VPACKSSDW", y(1), y(0), y(0))
		f.op("VPACKUSWB", y(0), y(0), y(0))
		f.op("VPERMQ", 0x08, y(0), y(0))
		f.op("VMOVDQU", x(0), "(DI)")
		f.op("ADDQ", 16, "DI")
	})
	f.ret()
}

// sumPixelRows writes the sums along columns. Four registers hold the sums of a block.
func (f *file) sumPixelRows(s isa) {
	name := "sumPixelRows" + s.name
	f.fun(name+` sums n bytes of rows, at least 64, as sumPixelRowsRef does. Rows are stride bytes apart. The first one
begins at byte start; the row at byte end is the one at byte 0. The last bytes of a row may be computed twice.`,
		name, "dst *byte, n int, rows *byte, stride, start, end int, weights *int32, taps int", "")
	f.load("dst", "DI", "n", "CX", "rows", "SI", "stride", "R8", "end", "R9", "weights", "BX")
	block, width := s.bytes, s.bytes/4
	if !s.wide() {
		f.op("VMOVDQU", "pixelOrder<>(SB)", y(15))
	} else {
		f.op(s.clear, z(15), z(15), z(15))
	}
	f.op("VPBROADCASTD", "pixelHalf<>(SB)", s.reg(14))
	f.blocks(block, func() {
		f.op("MOVQ", f.arg("start"), "R11")
		f.op("MOVQ", f.arg("taps"), "R13")
		f.op("LEAQ", "(SI)(R10*1)", "R12")
		f.op("MOVQ", "BX", "DX")
		for i := range 4 {
			f.op(map[bool]string{false: "VMOVDQA", true: "VMOVDQA32"}[s.wide()], s.reg(14), s.reg(i))
		}
		f.loop("R13", func() {
			f.op("VPBROADCASTD", "(DX)", s.reg(8))
			for i := range 4 {
				f.op("VPMOVZXBD", indexed("R12", i*width, "R11", 1), s.reg(4+i))
				f.op("VPMULLD", s.reg(8), s.reg(4+i), s.reg(4+i))
				f.op("VPADDD", s.reg(4+i), s.reg(i), s.reg(i))
			}
			f.op("ADDQ", 4, "DX")
			f.op("ADDQ", "R8", "R11")
			f.op("XORL", "AX", "AX")
			f.op("CMPQ", "R11", "R9")
			f.op("CMOVQEQ", "AX", "R11")
		})
		for i := range 4 {
			f.op("VPSRAD", 22, s.reg(i), s.reg(i))
			if s.wide() {
				f.op("VPMAXSD", z(15), z(i), z(i))
				f.op("VPMOVUSDB", z(i), indexed("DI", i*width, "R10", 1))
			}
		}
		if !s.wide() {
			f.op("VPACKSSDW", y(1), y(0), y(0))
			f.op("VPACKSSDW", y(3), y(2), y(2))
			f.op("VPACKUSWB", y(2), y(0), y(0))
			f.op("VPERMD", y(0), y(15), y(0))
			f.op("VMOVDQU", y(0), "(DI)(R10*1)")
		}
	})
	f.ret()
}
