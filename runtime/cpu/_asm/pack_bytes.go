package main

import "fmt"

// packBytes writes the kernels that pack the matrices of integer products. A packed matrix is in
// the order in which the product's tiles read it.
func packBytes(f *file) {
	ones, words := f.words("unitBytes", 0x01010101), f.words("unitWords", 0x00010001)
	for _, s := range []struct {
		panels int
		set    string
		reg    func(int) string
	}{{1, "AVX2", x}, {2, "AVX2", y}, {4, "AVX512", z}} {
		(&packColumns{f, s.panels, s.reg}).write(s.set, ones, words)
	}
	f.packRow()
	f.has("PackBytes")
	f.dispatch(dispatch{
		doc:      "packColumns packs 4, 2 or 1 panels, 4 of them at AVX512.",
		function: "packColumns(abreast int, dst, src *byte, sums *int32, row, panel, groups int, change uint32)",
		variants: []variant{{"abreast == 4", "4AVX512"}, {"abreast == 2", "2AVX2"}, {"abreast == 1", "1AVX2"}},
		kernels:  only("packColumns"), args: "dst, src, sums, row, panel, groups, change",
	})
	f.dispatch(dispatch{
		doc:      "packPart packs bytes of a row, a positive multiple of 32, and returns their sum.",
		function: "packPart(dst, src []byte, change uint32)", result: "int",
		variants: []variant{{"level >= AVX2", "AVX2"}},
		kernels:  only("packRow"), args: "&dst[0], &src[0], len(src), change",
	})
}

// packColumns writes the code that packs several panels at the same time. A register holds one row
// of each panel; each panel has a lane of 128 bits.
type packColumns struct {
	*file
	panels int
	reg    func(int) string
}

// Vector registers of packColumns.
const (
	packedRows = 0  // four rows, then groups of four columns
	packedHalf = 4  // pairs of rows
	columnSums = 8  // four sums of groups of columns
	packChange = 12 // bytes that rows are XORed with
	packOnes   = 13 // ones as bytes
	packWords  = 14 // ones as words
	packTemp   = 15
)

func (k *packColumns) write(set, ones, words string) {
	name := fmt.Sprintf("packColumns%d%s", k.panels, set)
	k.fun(name+` packs groups of four rows of src into panels, `+fmt.Sprint(k.panels)+` side by side. Rows are row
bytes apart, and panels panel bytes. Each byte is XORed with change, which holds it four times. The
results, as int8, are added to the sums of their columns.`,
		name, "dst, src *byte, sums *int32, row, panel, groups int, change uint32", "")
	k.load("dst", "DI", "src", "SI", "sums", "BX", "row", "DX", "panel", "R8", "groups", "CX")
	k.op("LEAQ", "(DX)(DX*2)", "AX")
	k.op("LEAQ", "(R8)(R8*2)", "R9")
	k.op("VBROADCASTSS", k.arg("change"), k.reg(packChange))
	k.op("VPBROADCASTD", ones, k.reg(packOnes))
	k.op("VPBROADCASTD", words, k.reg(packWords))
	xor := "VPXOR"
	if k.panels == 4 {
		xor = "VPXORD"
	}
	for i := range 4 {
		k.op(xor, k.reg(columnSums+i), k.reg(columnSums+i), k.reg(columnSums+i))
	}
	k.loop("CX", func() {
		for r, from := range []string{"(SI)", "(SI)(DX*1)", "(SI)(DX*2)", "(SI)(AX*1)"} {
			row := k.reg(packedRows + r)
			k.op("VMOVUPS", from, row)
			k.op(xor, k.reg(packChange), row, row)
		}
		for i, half := range []string{"L", "H"} {
			for pair := range 2 {
				k.op("VPUNPCK"+half+"BW", k.reg(packedRows+2*pair+1), k.reg(packedRows+2*pair), k.reg(packedHalf+2*i+pair))
			}
		}
		for i := range 4 {
			four, half := k.reg(packedRows+i), packedHalf+i/2*2
			k.op([]string{"VPUNPCKLWD", "VPUNPCKHWD"}[i%2], k.reg(half+1), k.reg(half), four)
			k.lanes(four, "DI", 16*i)
			sum := k.reg(columnSums + i)
			k.op("VPMADDUBSW", four, k.reg(packOnes), k.reg(packTemp))
			k.op("VPMADDWD", k.reg(packWords), k.reg(packTemp), k.reg(packTemp))
			k.op("VPADDD", k.reg(packTemp), sum, sum)
		}
		k.op("LEAQ", "(SI)(DX*4)", "SI")
		k.op("ADDQ", 64, "DI")
	})
	for i := range 4 {
		sum := columnSums + i
		for lane := range k.panels {
			part, at := x(packTemp), at("BX", 64*lane+16*i)
			k.lane(lane, k.reg(sum), part)
			k.op("VPADDD", at, part, part)
			k.op("VMOVUPS", part, at)
		}
	}
	k.ret()
}

// lanes stores the 128-bit lanes of register `from`, one lane into each panel. Lane 0 goes to the
// address base + disp.
func (k *packColumns) lanes(from, base string, disp int) {
	for lane, to := range []string{at(base, disp), indexed(base, disp, "R8", 1), indexed(base, disp, "R8", 2), indexed(base, disp, "R9", 1)}[:k.panels] {
		k.lane(lane, from, to)
	}
}

// lane stores the 128-bit lane number `lane` of register `from` at operand `to`.
func (k *packColumns) lane(lane int, from, to string) {
	switch {
	case lane == 0:
		k.op("VMOVUPS", "X"+from[1:], to)
	case k.panels == 4:
		k.op("VEXTRACTI32X4", lane, from, to)
	default:
		k.op("VEXTRACTI128", lane, from, to)
	}
}

// packRow writes the kernel that copies a row of bytes and sums it. The kernel handles 32 bytes at
// a time, and XORs each byte with a constant.
func (f *file) packRow() {
	f.fun(`packRowAVX2 copies n bytes, a positive multiple of 32. Each is XORed with change, which holds the
byte four times. It returns the sum of the results, as uint8.`,
		"packRowAVX2", "dst, src *byte, n int, change uint32", "sum int")
	f.load("dst", "DI", "src", "SI", "n", "CX")
	f.op("SHRQ", 5, "CX")
	f.op("VBROADCASTSS", f.arg("change"), y(2))
	f.op("VPXOR", y(1), y(1), y(1))
	f.op("VPXOR", y(3), y(3), y(3))
	f.loop("CX", func() {
		f.op("VPXOR", "(SI)", y(2), y(0))
		f.op("VMOVDQU", y(0), "(DI)")
		f.op("VPSADBW", y(3), y(0), y(0))
		f.op("VPADDQ", y(0), y(1), y(1))
		f.op("ADDQ", 32, "SI")
		f.op("ADDQ", 32, "DI")
	})
	f.op("VEXTRACTI128", 1, y(1), x(0))
	f.op("VPADDQ", x(0), x(1), x(1))
	f.op("VPSRLDQ", 8, x(1), x(0))
	f.op("VPADDQ", x(0), x(1), x(1))
	f.op("VMOVQ", x(1), "AX")
	f.op("MOVQ", "AX", f.arg("sum"))
	f.ret()
}
