package main

import "fmt"

// weight is a storage format of the elements of panels.
type weight struct {
	name string // part of the functions' names
	size int
	// widen loads 16 or 8 elements as float32. It is nil if arithmetic reads them from memory
	// unchanged.
	widen func(f *file, from, to string)
}

var weights = []weight{
	{"Float32", 4, nil},
	{"Float16", 2, func(f *file, from, to string) { f.op("VCVTPH2PS", from, to) }},
	{"BFloat16", 2, func(f *file, from, to string) {
		f.op("VPMOVZXWD", from, to)
		f.op("VPSLLD", 16, to, to)
	}},
}

// oneRows writes the kernels for products of one row and a matrix. There is a function for each
// instruction set and weight format.
//
// The time of such a product is the time to read the panels of the matrix. Several panels are
// therefore read at the same time, and the next ones are prefetched. A column is summed in the same
// order whether its panel is read alone or with others.
//
// Registers: R14 points to the product, SI to the row, DI to the panels, DX to the result, BX to
// the bias and R10 to the residual. R8 is the distance between panels, and R9 three times this
// distance. R11 is the number of panels left. R12 and R13 are positions in the row and in the
// panels. CX is a counter.
func oneRows(f *file) {
	for _, s := range f.sets() {
		for _, w := range weights {
			name := "oneRow" + w.name + s.name
			f.fun(fmt.Sprintf("%s computes what oneRowRef does for weights of %s.", name, w.name), name, "t *oneRow", "")
			f.load("t", "R14")
			for _, p := range [...][2]string{
				{"a", "SI"}, {"b", "DI"}, {"c", "DX"}, {"bias", "BX"}, {"residual", "R10"}, {"panels", "R11"}, {"panelB", "R8"},
			} {
				f.op("MOVQ", "oneRow_"+p[0]+"(R14)", p[1])
			}
			f.op("LEAQ", "(R8)(R8*2)", "R9")
			abreast := min(4, (s.regs-4)/(s.rowSums()*s.perTile))
			alone, ahead, done := f.fresh("alone"), f.fresh("ahead"), f.fresh("done")
			together := f.fresh("together")
			f.mark(together)
			f.op("CMPQ", "R11", abreast)
			f.op("JLT", alone)
			f.op("CMPQ", "oneRow_far(R14)", 0)
			f.op("JNE", ahead)
			f.onePanels(s, w, abreast, false)
			f.op("JMP", together)
			f.mark(ahead)
			f.onePanels(s, w, abreast, true)
			f.op("JMP", together)
			f.mark(alone)
			f.op("TESTQ", "R11", "R11")
			f.op("JZ", done)
			f.onePanels(s, w, 1, false)
			f.op("JMP", alone)
			f.mark(done)
			f.ret()
		}
	}
	f.dispatch(dispatch{
		doc:      "runOneRow calls the level's kernel of one row.",
		function: "runOneRow(t *oneRow)", by: "t.kind.format",
		kernels: []kernel{{when: "weightF16", name: "oneRowFloat16"}, {when: "weightBF16", name: "oneRowBFloat16"}, {name: "oneRowFloat32"}},
		args:    "t", otherwise: "oneRowRef(t)",
	})
}

// rowSums returns the number of partial sums for each column. Multiply-adds to the same sum wait
// for each other. With several partial sums, they overlap.
func (s isa) rowSums() int { return 4 / s.perTile }

// rowAhead is the distance in bytes between the element that is read and the cache line that is
// prefetched.
const rowAhead = 2048

// onePanels writes the product of the row and the given number of panels. The code clears the sums
// first, and advances to the next panels at the end. If fetch is true, the code prefetches panels.
func (f *file) onePanels(s isa, w weight, panels int, fetch bool) {
	const unroll = 4
	sums := s.rowSums()
	v := panels * s.perTile
	acc := func(sum, i int) string { return s.reg(sum*v + i) }
	element := s.reg(sums * v)
	wide := func(i int) string { return s.reg(sums*v + 1 + i%(s.regs-sums*v-1)) }
	b := func(p, disp int) string {
		switch p {
		case 0:
			return at("R13", disp)
		case 3:
			return indexed("R13", disp, "R9", 1)
		}
		return indexed("R13", disp, "R8", p)
	}

	for i := range sums * v {
		f.op(s.clear, s.reg(i), s.reg(i), s.reg(i))
	}
	step := func(u int) {
		f.op("VBROADCASTSS", at("R12", 4*u), element)
		for i := range v {
			from := b(i/s.perTile, 16*w.size*u+i%s.perTile*s.lanes()*w.size)
			if w.widen != nil {
				w.widen(f, from, wide(i))
				from = wide(i)
			}
			f.op("VFMADD231PS", from, element, acc(u%sums, i))
		}
	}
	steps := func(n int) {
		for u := range n {
			step(u)
		}
		f.op("ADDQ", 4*n, "R12")
		f.op("ADDQ", 16*w.size*n, "R13")
	}
	tail, summed := f.fresh("tail"), f.fresh("summed")
	f.op("MOVQ", "SI", "R12")
	f.op("MOVQ", "DI", "R13")
	f.op("MOVQ", "oneRow_depth(R14)", "CX")
	f.op("SHRQ", 2, "CX")
	f.op("JZ", tail)
	f.loop("CX", func() {
		for line := 0; fetch && line < 16*w.size*unroll; line += 64 {
			for p := range panels {
				f.op("PREFETCHT0", b(p, rowAhead+line))
			}
		}
		steps(unroll)
	})
	f.mark(tail)
	f.op("MOVQ", "oneRow_depth(R14)", "CX")
	f.op("ANDQ", unroll-1, "CX")
	f.op("JZ", summed)
	f.loop("CX", func() { steps(1) })
	f.mark(summed)

	for half := sums / 2; half > 0; half /= 2 {
		for i := range half * v {
			f.op("VADDPS", s.reg(half*v+i), s.reg(i), s.reg(i))
		}
	}
	f.addIfAny(s, "BX", v)
	f.addIfAny(s, "R10", v)
	free := f.fresh("free")
	lo, hi := s.reg(v), s.reg(v+1)
	f.op("CMPQ", "oneRow_clamp(R14)", 0)
	f.op("JEQ", free)
	f.op("VBROADCASTSS", "oneRow_lo(R14)", lo)
	f.op("VBROADCASTSS", "oneRow_hi(R14)", hi)
	for i := range v {
		// The sum is the second operand in Intel's order, so that NaN and −0 are kept.
		f.op("VMAXPS", s.reg(i), lo, s.reg(i))
		f.op("VMINPS", s.reg(i), hi, s.reg(i))
	}
	f.mark(free)
	for i := range v {
		f.op("VMOVUPS", s.reg(i), at("DX", i*s.bytes))
	}
	f.op("ADDQ", 64*panels, "DX")
	for range panels {
		f.op("ADDQ", "R8", "DI")
	}
	f.op("SUBQ", panels, "R11")
}

// addIfAny adds v vectors in memory to the first v registers. base is the register that holds the
// address of the vectors, which the code advances. The code does nothing if the address is nil.
func (f *file) addIfAny(s isa, base string, v int) {
	none := f.fresh("none")
	f.op("TESTQ", base, base)
	f.op("JZ", none)
	for i := range v {
		f.op("VADDPS", at(base, i*s.bytes), s.reg(i), s.reg(i))
	}
	f.op("ADDQ", v*s.bytes, base)
	f.mark(none)
}
