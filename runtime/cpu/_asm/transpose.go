package main

// transposes writes the kernels that transpose squares of 8×8, for AVX2 and NEON. There are no
// wider variants, because their shuffles would not be faster.
func transposes(f *file) {
	f.transposeDispatch()
	if f.arch == "arm64" {
		f.transposition("transposeSquare", "", "")
		f.loop("CX", f.transposeByPairs)
		f.ret()
		return
	}
	for _, e := range []struct {
		name string
		body func(t transposing)
	}{{"", transposing.numbers}, {"Of1", transposing.bytes}, {"Of2", transposing.words}, {"Of8", transposing.longs}} {
		f.transposition("transposeSquare"+e.name, "", "")
		transposing{file: f}.loop(e.body)
		f.transposition("transposeStrip"+e.name, " and writes their first columns only", ", columns int")
		f.load("columns", "R13")
		transposing{f, true}.loop(e.body)
	}
}

// transposeDispatch writes the Go functions that choose a kernel by the size of an element. NEON
// has kernels only for elements of four bytes.
func (f *file) transposeDispatch() {
	square, strip := only("transposeSquare"), []variant{}
	var strips []kernel
	if f.arch == "amd64" {
		square = transposeKernels("transposeSquare")
		strips, strip = transposeKernels("transposeStrip"), append(strip, variant{})
	}
	const params = "size int, dst, src unsafe.Pointer, dstRow, srcRow, dstNext, srcNext, n"
	const args = "dst, src, dstRow, srcRow, dstNext, srcNext, n"
	f.dispatch(dispatch{
		doc:      "transposeLine transposes n squares of elements of a size in bytes.",
		function: "transposeLine(" + params + " int)", variants: []variant{{}},
		kernels: square, args: args,
	})
	f.dispatch(dispatch{
		doc:      "transposeStrips transposes n strips of this many columns, of elements of a size in bytes.",
		function: "transposeStrips(" + params + ", columns int)", variants: strip,
		kernels: strips, args: args + ", columns",
	})
}

// transposeKernels returns the kernels for elements of 4, 1, 2 and 8 bytes. Elements of 4 bytes are
// the most frequent and come first.
func transposeKernels(name string) []kernel {
	return []kernel{{when: "size == 4", name: name}, {when: "size == 1", name: name + "Of1"}, {when: "size == 2", name: name + "Of2"}, {name: name + "Of8"}}
}

// transposition writes the doc comment of a kernel and the code that loads its parameters into
// registers. continuation continues the first sentence of the comment. params continues the list of
// parameters.
func (f *file) transposition(name, continuation, params string) {
	f.fun(name+" transposes n squares of 8×8 elements"+continuation+`. dstRow and srcRow are the distances in bytes between
the rows of a square, dstNext and srcNext those between squares.
	dst[c][r] = src[r][c]`,
		name, "dst, src unsafe.Pointer, dstRow, srcRow, dstNext, srcNext, n int"+params, "")
	f.load("dst", "DI", "src", "SI", "dstRow", "R8", "srcRow", "DX", "dstNext", "R10", "srcNext", "R11", "n", "CX")
}

// transposing writes a kernel for amd64.
type transposing struct {
	*file
	strip bool // one square high and R13 columns wide, instead of squares
}

func (t transposing) loop(body func(t transposing)) {
	t.op("LEAQ", "(DX)(DX*2)", "AX")
	t.op("LEAQ", "(R8)(R8*2)", "R9")
	t.file.loop("CX", func() {
		t.op("LEAQ", "(SI)(DX*4)", "BX")
		t.op("LEAQ", "(DI)(R8*4)", "R12")
		body(t)
		t.op("ADDQ", "R10", "DI")
		t.op("ADDQ", "R11", "SI")
	})
	t.ret()
}

// row returns the memory operand at row r of src plus disp bytes. column returns the memory operand
// at column c of dst plus disp bytes.
func (t transposing) row(r, disp int) string {
	return fourth([]string{"SI", "BX"}[r/4], "DX", "AX", r%4, disp)
}

func (t transposing) column(c, disp int) string {
	return fourth([]string{"DI", "R12"}[c/4], "R8", "R9", c%4, disp)
}

// fourth returns the memory operand at base + r·stride + disp bytes, for r < 4. The registers `one`
// and `three` hold one and three strides.
func fourth(base, one, three string, r, disp int) string {
	return [...]string{at(base, disp), indexed(base, disp, one, 1), indexed(base, disp, one, 2), indexed(base, disp, three, 1)}[r]
}

// has writes a jump to the label `end`. The jump is taken if a strip of columns does not have
// column c. Whole squares have all columns, and has writes nothing for them.
func (t transposing) has(c int, end string) {
	if t.strip && c > 0 {
		t.op("CMPQ", "R13", c)
		t.op("JLE", end)
	}
}

// numbers transposes squares of 32-bit elements. A register holds four elements of row r, and the
// elements of row r+4 in the same columns.
func (t transposing) numbers() {
	end := t.fresh("end")
	for half := range 2 {
		t.has(4*half, end)
		for r := range 4 {
			t.op("VMOVUPS", t.row(r, 16*half), x(r))
			t.op("VINSERTF128", 1, t.row(4+r, 16*half), y(r), y(r))
		}
		t.op("VUNPCKLPS", y(1), y(0), y(4))
		t.op("VUNPCKHPS", y(1), y(0), y(5))
		t.op("VUNPCKLPS", y(3), y(2), y(6))
		t.op("VUNPCKHPS", y(3), y(2), y(7))
		for c := range 4 {
			t.has(4*half+c, end)
			unpack := [...]string{"VUNPCKLPD", "VUNPCKHPD"}[c%2]
			t.op(unpack, y(6+c/2), y(4+c/2), y(8+c))
			t.op("VMOVUPS", y(8+c), t.column(4*half+c, 0))
		}
	}
	t.mark(end)
}

// longs transposes squares of 64-bit elements. Two elements of each of four rows become four
// elements of each of two columns.
func (t transposing) longs() {
	end := t.fresh("end")
	for c := 0; c < 8; c += 2 {
		t.has(c, end)
		next := t.fresh("next")
		for half := range 2 {
			for r := range 2 {
				t.op("VMOVUPS", t.row(4*half+r, 8*c), x(2*half+r))
				t.op("VINSERTF128", 1, t.row(4*half+r+2, 8*c), y(2*half+r), y(2*half+r))
			}
			t.op("VUNPCKLPD", y(2*half+1), y(2*half), y(4))
			t.op("VMOVUPS", y(4), t.column(c, 32*half))
		}
		t.has(c+1, next)
		for half := range 2 {
			t.op("VUNPCKHPD", y(2*half+1), y(2*half), y(4))
			t.op("VMOVUPS", y(4), t.column(c+1, 32*half))
		}
		t.mark(next)
	}
	t.mark(end)
}

// words transposes squares of 16-bit elements. Unpacking makes pairs of rows, then groups of four
// rows, then columns.
func (t transposing) words() {
	end := t.fresh("end")
	for r := range 8 {
		t.op("VMOVUPS", t.row(r, 0), x(r))
	}
	for pair := range 4 {
		t.op("VPUNPCKLWD", x(2*pair+1), x(2*pair), x(8+2*pair))
		t.op("VPUNPCKHWD", x(2*pair+1), x(2*pair), x(9+2*pair))
	}
	for c := range 4 {
		unpack := [...]string{"VPUNPCKLDQ", "VPUNPCKHDQ"}[c%2]
		t.op(unpack, x(10+c/2), x(8+c/2), x(c))
		t.op(unpack, x(14+c/2), x(12+c/2), x(4+c))
	}
	for c := range 8 {
		t.has(c, end)
		unpack := [...]string{"VPUNPCKLQDQ", "VPUNPCKHQDQ"}[c%2]
		t.op(unpack, x(4+c/2), x(c/2), x(8))
		t.op("VMOVUPS", x(8), t.column(c, 0))
	}
	t.mark(end)
}

// bytes transposes 8-bit elements, as words does.
func (t transposing) bytes() {
	end := t.fresh("end")
	for r := range 8 {
		t.op("VMOVQ", t.row(r, 0), x(r))
	}
	for pair := range 4 {
		t.op("VPUNPCKLBW", x(2*pair+1), x(2*pair), x(8+pair))
	}
	for half := range 2 {
		unpack := [...]string{"VPUNPCKLWD", "VPUNPCKHWD"}[half]
		t.op(unpack, x(9), x(8), x(half))
		t.op(unpack, x(11), x(10), x(2+half))
	}
	for c := range 8 {
		t.has(c, end)
		if c%2 == 0 {
			unpack := [...]string{"VPUNPCKLDQ", "VPUNPCKHDQ"}[c/2%2]
			t.op(unpack, x(2+c/4), x(c/4), x(4))
			t.op("VMOVQ", x(4), t.column(c, 0))
		} else {
			t.op("VMOVHPS", x(4), t.column(c, 0))
		}
	}
	t.mark(end)
}

// transposeByPairs transposes a square as four blocks of 4×4. In each block, it first exchanges
// single elements, and then pairs of elements.
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
