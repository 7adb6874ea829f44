package main

// rowsAtOnce is the number of rows that are computed at the same time. With several independent
// sums, multiply-adds do not wait for each other.
const rowsAtOnce = 4

// windowBases are the registers that advance along rows of src.
var windowBases = [rowsAtOnce]string{"SI", "R8", "R13", "R15"}

// windowRowsFamily writes the kernels for windows over rows of a plane. The taps of a window are at
// the same offsets from each output. The operand is a windowRows of package cpu.
//
// Registers: R14 points to the windowRows. R12 points to the start of the rows of dst, and DI into
// the first of them. The registers windowBases point into the rows of src. R9 and R10 point to the
// taps and their weights. BX is the number of rows left, CX the number of columns left, and R11 the
// index of the tap. DX and AX are scratch. The code also advances the field src of the windowRows.
func windowRowsFamily(f *file) {
	indices(f)
	for _, s := range f.sets() {
		f.fun("windowRows"+s.name+" computes what windowRowsRef does.", "windowRows"+s.name, "t *windowRows", "")
		k := &vectors{file: f, isa: s, interleaved: 1}
		var sums [rowsAtOnce]value
		for r := range sums {
			sums[r] = k.temp()
		}
		bias, lo, hi := k.temp(), k.temp(), k.temp()
		f.load("t", "R14")
		for _, p := range [...]struct{ field, register string }{
			{"dst", "R12"}, {"taps", "R9"}, {"weights", "R10"}, {"rows", "BX"},
		} {
			f.op("MOVQ", "windowRows_"+p.field+"(R14)", p.register)
		}
		for _, p := range [...]struct {
			field string
			to    value
		}{{"bias", bias}, {"lo", lo}, {"hi", hi}} {
			f.op("VBROADCASTSS", "windowRows_"+p.field+"(R14)", k.register(p.to, 0))
		}
		few, end := f.fresh("few"), f.fresh("end")
		for _, rows := range []int{rowsAtOnce, 1} {
			top := f.fresh("rows")
			f.mark(top)
			f.op("CMPQ", "BX", rows)
			f.op("JLT", map[bool]string{true: few, false: end}[rows > 1])
			f.windowRows(k, sums[:rows], bias, lo, hi)
			f.op("SUBQ", rows, "BX")
			f.op("JMP", top)
			if rows > 1 {
				f.mark(few)
			}
		}
		f.mark(end)
		f.ret()
	}
	f.dispatch(dispatch{
		doc:      "runWindowRows calls the level's kernel of rows of windows, which may change t.",
		function: "runWindowRows(t *windowRows)", kernels: only("windowRows"), args: "t", otherwise: "windowRowsRef(t)",
	})
}

// windowRows writes the code for len(sums) rows, and advances to the next rows. sums, bias, lo and
// hi are values of k.
func (f *file) windowRows(k *vectors, sums []value, bias, lo, hi value) {
	s, x := k.isa, k.temp()
	bases := windowBases[:len(sums)]
	f.op("MOVQ", "R12", "DI")
	f.op("MOVQ", "windowRows_src(R14)", bases[0])
	for r := 1; r < len(bases); r++ {
		f.op("MOVQ", bases[r-1], bases[r])
		f.op("ADDQ", "windowRows_srcRow(R14)", bases[r])
	}
	walk := func(place string, body func(sum string)) {
		for r, sum := range sums {
			if r > 0 {
				f.op("ADDQ", "windowRows_dstRow(R14)", place)
			}
			body(k.register(sum, 0))
		}
	}
	vector := func(load, store func(a, b string)) {
		for _, sum := range sums {
			k.do("VMOVAPS", bias, sum)
		}
		tap, alone := f.fresh("tap"), f.fresh("alone")
		f.op("MOVQ", 0, "R11")
		f.mark(tap)
		f.op("MOVQ", indexed("R9", 0, "R11", 8), "DX")
		f.op("VBROADCASTSS", indexed("R10", 0, "R11", 4), k.register(x, 0))
		for r, sum := range sums {
			f.op("VFMADD231PS", indexed(bases[r], 0, "DX", 1), k.register(x, 0), k.register(sum, 0))
		}
		f.op("ADDQ", 1, "R11")
		f.op("CMPQ", "windowRows_count(R14)", "R11")
		f.op("JGT", tap)

		f.op("MOVQ", "windowRows_residual(R14)", "AX")
		f.op("TESTQ", "AX", "AX")
		f.op("JZ", alone)
		f.op("MOVQ", "windowRows_dst(R14)", "DX")
		f.op("SUBQ", "DX", "AX")
		f.op("ADDQ", "DI", "AX")
		walk("AX", func(sum string) {
			load("(AX)", k.register(x, 0))
			f.op("VADDPS", k.register(x, 0), sum, sum)
		})
		f.mark(alone)
		for _, sum := range sums {
			// The sum is the second operand in Intel's order, so that NaN and −0 are kept.
			k.do("VMAXPS", sum, lo, sum)
			k.do("VMINPS", sum, hi, sum)
		}
		f.op("MOVQ", "DI", "DX")
		walk("DX", func(sum string) { store(sum, "(DX)") })
	}
	f.op("MOVQ", "windowRows_n(R14)", "CX")
	f.sweep(k, append([]string{"DI"}, bases...), func() {
		move := func(from, to string) { f.op("VMOVUPS", from, to) }
		vector(move, move)
	}, nil, func() {
		vector(func(from, to string) { f.loadTail(s, from, to) }, func(from, to string) { f.storeTail(s, from, to) })
	})
	for range sums {
		f.op("ADDQ", "windowRows_dstRow(R14)", "R12")
	}
	f.op("MOVQ", "windowRows_srcRow(R14)", "AX")
	for range sums {
		f.op("ADDQ", "AX", "windowRows_src(R14)")
	}
	k.free(x)
}
