package main

import "fmt"

// isa describes an instruction set: its registers, and the largest tiles of its kernels.
type isa struct {
	name    string
	reg     func(int) string // name of vector register i
	regs    int              // number of vector registers
	bytes   int              // size of a vector register
	rows    int              // largest number of rows of a tile
	panels  int              // largest number of panels of a tile
	clear   string           // instruction that clears a register
	perTile int              // vector registers for a panel of 16 columns
	flight  int              // multiply-adds that must be in flight to hide their latency
}

var isas = []isa{
	{name: "AVX2", reg: y, regs: 16, bytes: 32, rows: 6, panels: 1, clear: "VXORPS", perTile: 2, flight: 8},
	{name: "AVX512", reg: z, regs: 32, bytes: 64, rows: 14, panels: 2, clear: "VPXORD", perTile: 1, flight: 8},
}

func (f *file) sets() []isa {
	switch f.arch {
	case "arm64":
		return []isa{neon}
	case "wasm":
		return []isa{simd128}
	}
	return isas
}

// rowBases returns the registers that point to rows. Each points to the first row of a group of
// rows, and `group` is the number of rows in a group. On amd64, DX, AX and R9 hold one, three and
// five times the distance between rows. With one of them as the index, a memory operand can reach
// each row of a group.
func (f *file) rowBases() (bases []string, group int) {
	if f.arch != "amd64" {
		return []string{"SI", "R6", "R7", "R19", "R20", "R21"}, 1
	}
	return []string{"SI", "R8"}, len(rowIndex)
}

var rowIndex = [...]struct {
	reg   string
	scale int
}{{}, {"DX", 1}, {"DX", 2}, {"AX", 1}, {"DX", 4}, {"R9", 1}, {"AX", 2}}

// row returns the memory operand at row r of the input plus disp bytes.
func (f *file) row(r, disp int) string {
	bases, group := f.rowBases()
	base, i := bases[r/group], rowIndex[r%group]
	if i.scale == 0 {
		return at(base, disp)
	}
	return indexed(base, disp, i.reg, i.scale)
}

// tiles writes the kernels of matrix products and convolutions. There is one function for each
// instruction set. It jumps to the code for the number of rows and panels of the tile.
//
// Registers: R14 points to the tile, the registers of rowBases to the rows of a, and DI into b. DX,
// AX and R9 hold one, three and five times the distance between rows of a. R12 is the distance
// between panels of b, and R15 the distance between rows of b. R13, on amd64, is the address to
// prefetch. CX, R10 and R11 are counters.
func tiles(f *file) {
	for _, s := range f.sets() {
		f.framed(tileFrame, "tile"+s.name+" computes what tileRef does, t.rows × t.panels × 16 elements at a time.",
			"tile"+s.name, "t *tile", "")
		f.load("t", "R14")
		f.enter()
		f.strides()
		f.op("MOVQ", "tile_panelB(R14)", "R12")
		f.op("MOVQ", "tile_gapB(R14)", "R15")
		f.op("ADDQ", 64, "R15")
		if f.arch == "amd64" {
			f.op("MOVQ", "tile_b(R14)", "R13")
			f.op("ADDQ", "tile_atNext(R14)", "R13")
		}
		f.chooseTile(s)
		for p := 1; p <= s.panels; p++ {
			for r := 1; r <= s.rows; r++ {
				tileKernel(f, s, r, p)
			}
		}
	}
	f.dispatch(dispatch{
		doc:      "runTile calls the level's tile kernel.",
		function: "runTile(t *tile)", kernels: only("tile"), args: "t", otherwise: "tileRef(t)",
	})
}

func (f *file) chooseTile(s isa) {
	f.op("MOVQ", "tile_rows(R14)", "CX")
	if s.panels == 2 {
		f.op("CMPQ", "tile_panels(R14)", 2)
		f.op("JEQ", "two")
		f.choose("CX", 1, s.rows, func(r int) string { return tileLabel(r, 1) })
		f.mark("two")
	}
	f.choose("CX", 1, s.rows, func(r int) string { return tileLabel(r, s.panels) })
}

// ahead is the distance in bytes at which panels are prefetched. It is one page, because the
// processor itself does not prefetch beyond the end of a page.
const ahead = 4096

func tileLabel(rows, panels int) string { return fmt.Sprintf("r%dp%d", rows, panels) }

// These slots of the stack frame hold the position of the kernel: the addresses of the current tile
// in a, b and c, and the number of tiles that are left.
const (
	aCur        = "a-8(SP)"
	bCur        = "b-16(SP)"
	cCur        = "c-24(SP)"
	biasCur     = "bias-32(SP)"
	residualCur = "residual-40(SP)"
	countCur    = "count-48(SP)"
	outerCur    = "outer-56(SP)" // the outer counter of the loop nest
	roundCur    = "round-64(SP)"
	tileFrame   = 64
)

// enter starts a kernel at the first tile.
func (f *file) enter() {
	for _, p := range [...]struct{ base, at, cursor string }{
		{"a", "A", aCur}, {"b", "B", bCur}, {"c", "C", cCur}, {"bias", "Bias", biasCur}, {"residual", "C", residualCur},
	} {
		absent := f.fresh("absent")
		f.op("MOVQ", "tile_"+p.base+"(R14)", "CX")
		f.op("TESTQ", "CX", "CX")
		f.op("JZ", absent)
		f.op("ADDQ", "tile_at"+p.at+"(R14)", "CX")
		f.mark(absent)
		f.op("MOVQ", "CX", p.cursor)
	}
	f.op("MOVQ", "tile_count(R14)", "CX")
	f.op("MOVQ", "CX", countCur)
	f.op("MOVQ", "tile_rounds(R14)", "CX")
	f.op("MOVQ", "CX", roundCur)
}

// strides loads the distance between rows of a. On amd64, it also loads three and five times this
// distance.
func (f *file) strides() {
	f.op("MOVQ", "tile_rowA(R14)", "DX")
	if _, group := f.rowBases(); group == 1 {
		return
	}
	f.op("LEAQ", "(DX)(DX*2)", "AX")
	f.op("LEAQ", "(DX)(DX*4)", "R9")
}

// choose writes a jump to label(i), where i is the value of a register and in [lo, hi]. The code
// compares by binary search.
func (f *file) choose(reg string, lo, hi int, label func(int) string) {
	if lo == hi {
		f.op("JMP", label(lo))
		return
	}
	mid, upper := (lo+hi+1)/2, f.fresh("from")
	f.op("CMPQ", reg, mid)
	f.op("JGE", upper)
	f.choose(reg, lo, mid-1, label)
	f.mark(upper)
	f.choose(reg, mid, hi, label)
}

// lowRows is the largest number of rows for which the time of a tile is the time to read b. Such a
// tile does not prefetch, because reading b takes all memory bandwidth already.
const lowRows = 4

func tileKernel(f *file, s isa, rows, panels int) {
	v := panels * s.perTile
	// Independent sums hide the latency of multiply-add.
	sums := 1
	for sums < 4 && rows*v*sums < s.flight {
		sums *= 2
	}
	acc := func(sum, r, i int) string { return s.reg((sum*rows+r)*v + i) }
	used := rows * v * sums
	cols := func(i int) string { return s.reg(used + i) }
	temps := max(1, min(4, s.regs-used-v))
	temp := func(r int) string { return s.reg(used + v + r%temps) }

	next := tileLabel(rows, panels)
	f.mark(next)
	f.startTile(rows)
	f.op("MOVQ", bCur, "DI")
	for i := range used {
		f.op(s.clear, s.reg(i), s.reg(i), s.reg(i))
	}

	step := func(u int) {
		b := func(i int) string {
			disp := i % s.perTile * s.bytes
			if i >= s.perTile {
				return indexed("DI", disp, "R12", 1)
			}
			return at("DI", disp)
		}
		if rows == 1 {
			f.op("VBROADCASTSS", f.row(0, 4*u), temp(u))
			for i := range v {
				f.op("VFMADD231PS", b(i), temp(u), acc(u%sums, 0, i))
			}
			f.op("ADDQ", "R15", "DI")
			return
		}
		for i := range v {
			f.op("VMOVUPS", b(i), cols(i))
		}
		f.op("PREFETCHT0", at("DI", ahead))
		if panels == 2 {
			f.op("PREFETCHT0", indexed("DI", ahead, "R12", 1))
		}
		f.op("ADDQ", "R15", "DI")
		for r := range rows {
			f.op("VBROADCASTSS", f.row(r, 4*u), temp(r))
			for i := range v {
				f.op("VFMADD231PS", cols(i), temp(r), acc(u%sums, r, i))
			}
		}
	}
	t0, t1 := cols(0), temp(0)
	if f.arch == "arm64" {
		f.runs(rows, true, func(n int, by any) { f.stepsByElement(rows, n, by, used, v, acc) })
		t0, t1 = s.reg(rows*v), s.reg(rows*v+1)
	} else {
		f.steps(rows, true, func(u int) {
			step(u)
			if u%2 == 1 && rows > lowRows {
				f.fetch(panels)
			}
		})
	}

	for sum := 1; sum < sums; sum++ {
		for i := range rows * v {
			f.op("VADDPS", s.reg(sum*rows*v+i), s.reg(i), s.reg(i))
		}
	}
	f.finish(s, rows, v, t0, t1, true)
	f.nextTile(next)
}

// fetch prefetches one cache line of each panel that is needed next. R13 points to this line in the
// first of these panels. fetch advances R13.
func (f *file) fetch(panels int) {
	f.op("PREFETCHT1", at("R13", 0))
	if panels > 1 {
		f.op("PREFETCHT1", indexed("R13", 0, "R12", 1))
	}
	f.op("ADDQ", "tile_fetch(R14)", "R13")
}

// steps writes the loops over the elements of each run of the tile's loop nest. A run is a sequence
// of elements of a row of a. They are adjacent, with one exception; see mayLieApart of [file.runs].
// The first loop contains the code of four steps, step(0) to step(3). The second loop contains the
// code of step(0), for the elements that are left. A step multiplies one element of each row of a
// by a row of b, to which DI points. It must advance DI to the next row of b. `rows` is the number
// of rows of the tile.
func (f *file) steps(rows int, mayLieApart bool, step func(u int)) {
	f.runs(rows, mayLieApart, func(n int, by any) {
		for u := range n {
			step(u)
		}
		f.move(rows, by)
	})
}

// runs writes the loops over the elements of each run of the tile's loop nest; see [file.steps] for
// what a run is. The first loop handles four elements at a time, and the second one element at a
// time. steps(n, by) writes the code for n elements. This code must advance DI by n rows of b, and
// the registers that point to rows of a by `by` bytes. `rows` is the number of rows of the tile. If
// mayLieApart is true, the code also handles tiles with a single run whose elements are not
// adjacent.
func (f *file) runs(rows int, mayLieApart bool, steps func(n int, by any)) {
	const unroll = 4
	end := ""
	if mayLieApart {
		neighbours := f.fresh("neighbours")
		end = f.fresh("end")
		f.op("MOVQ", "tile_apart(R14)", "BX")
		f.op("TESTQ", "BX", "BX")
		f.op("JZ", neighbours)
		f.apart(rows, steps)
		f.op("JMP", end)
		f.mark(neighbours)
	}
	f.nest(rows, true, func() {
		tail, done := f.fresh("tail"), f.fresh("done")
		f.op("MOVQ", "tile_run(R14)", "CX")
		if f.arch == "wasm" {
			// The compilers of WebAssembly move all loads of a loop to its start. More steps would take more
			// registers than there are.
			f.op("TESTQ", "CX", "CX")
			f.op("JZ", done)
			f.loop("CX", func() { steps(1, 4) })
			f.mark(done)
			return
		}
		f.op("SHRQ", 2, "CX")
		f.op("JZ", tail)
		f.loop("CX", func() { steps(unroll, 4*unroll) })
		f.mark(tail)
		f.op("MOVQ", "tile_run(R14)", "CX")
		f.op("ANDQ", unroll-1, "CX")
		f.op("JZ", done)
		f.loop("CX", func() { steps(1, 4) })
		f.mark(done)
	})
	if end != "" {
		f.mark(end)
	}
}

// elementsAhead is the distance in elements at which strided rows are prefetched. They are prefetched
// because the processor itself does not follow such rows.
const elementsAhead = 8

// apart writes a loop over the elements of a run in which each element is BX bytes after the one before.
// steps(1, "BX") writes the body of the loop; see [file.runs]. `rows` is the number of rows of the
// tile.
func (f *file) apart(rows int, steps func(n int, by any)) {
	f.op("MOVQ", "tile_run(R14)", "CX")
	f.loop("CX", func() {
		if rows > lowRows {
			f.op("PREFETCHT0", indexed("SI", 0, "BX", elementsAhead))
		}
		if rows > 2*lowRows { // which may span two cache lines
			f.op("PREFETCHT0", indexed("SI", 4*(rows-1), "BX", elementsAhead))
		}
		steps(1, "BX")
	})
}

// startTile sets the registers that point to rows of a to the start of the tile, and loads the
// counters of the loop nest. `rows` is the number of rows of the tile.
func (f *file) startTile(rows int) {
	f.op("MOVQ", aCur, "SI")
	bases, group := f.rowBases()
	for g := 1; g*group < rows; g++ {
		if group == 1 {
			f.op("LEAQ", indexed(bases[g-1], 0, "DX", 1), bases[g])
			continue
		}
		f.op("LEAQ", indexed(bases[g-1], 0, "DX", 8), bases[g])
		f.op("SUBQ", "DX", bases[g])
	}
	f.op("MOVQ", "tile_n+0(R14)", "R10")
	f.op("MOVQ", "tile_n+8(R14)", "R11")
	f.op("MOVQ", "tile_n+16(R14)", "BX")
	f.op("MOVQ", "BX", outerCur)
}

// move advances the registers that point to the `rows` rows of a tile. distance is a number of
// bytes, or the name of a register that holds this number.
func (f *file) move(rows int, distance any) {
	bases, group := f.rowBases()
	for g := 0; g*group < rows; g++ {
		f.op("ADDQ", distance, bases[g])
	}
}

// loop writes a loop around `body`. The register `counter` holds the number of iterations, at least
// one.
func (f *file) loop(counter string, body func()) {
	top := f.fresh("loop")
	f.op("PCALIGN", 32)
	f.mark(top)
	body()
	f.op("DECQ", counter)
	f.op("JNZ", top)
}

// nest writes the tile's three nested loops around `body`, which writes the code for one run; see
// [file.steps] for what a run is.
// Between runs, the code advances the registers of the rows. If b is true, it also advances DI, the
// position in the matrix b.
func (f *file) nest(rows int, b bool, body func()) {
	top, out := f.fresh("nest"), f.fresh("out")
	counters := [3]string{"R10", "R11", outerCur}
	f.mark(top)
	body()
	for i, counter := range counters {
		outer := f.fresh("outer")
		f.op("DECQ", counter)
		f.op("JZ", outer)
		f.op("MOVQ", fmt.Sprintf("tile_gap+%d(R14)", 8*i), "BX")
		f.move(rows, "BX")
		if b {
			f.op("ADDQ", fmt.Sprintf("tile_skipB+%d(R14)", 8*i), "DI")
		}
		for j := range i {
			f.op("MOVQ", fmt.Sprintf("tile_n+%d(R14)", 8*j), counters[j])
		}
		f.op("JMP", top)
		f.mark(outer)
	}
	f.mark(out)
}

// finish writes the end of a tile: it adds the bias and the residual to the sums, clamps the sums
// and stores them. The sums are in the first rows·v registers, v registers for each row. t0 and t1
// are free registers.
//
// If byRow is false, the bias has one element for each column. If byRow is true, the field byRow of
// the tile decides at run time whether the bias has one element for each column or for each row.
func (f *file) finish(s isa, rows, v int, t0, t1 string, byRow bool) {
	part := func(base string, i int) string {
		if i >= s.perTile {
			return indexed(base, i%s.perTile*s.bytes, "R11", 1)
		}
		return at(base, i*s.bytes)
	}
	walk := func(body func(r, i int)) {
		for r := range rows {
			if r > 0 {
				f.op("ADDQ", "R10", "DI")
			}
			for i := range v {
				body(r, i)
			}
		}
	}
	skip := f.fresh("unbiased")
	f.op("MOVQ", biasCur, "BX")
	f.op("TESTQ", "BX", "BX")
	f.op("JZ", skip)
	if byRow {
		columns := f.fresh("columns")
		f.op("CMPQ", "tile_byRow(R14)", 0)
		f.op("JEQ", columns)
		for r := range rows {
			f.op("VBROADCASTSS", at("BX", 4*r), t0)
			for i := range v {
				f.op("VADDPS", t0, s.reg(r*v+i), s.reg(r*v+i))
			}
		}
		f.op("JMP", skip)
		f.mark(columns)
	}
	for i := range v {
		f.op("VMOVUPS", at("BX", i*s.bytes), t0)
		for r := range rows {
			f.op("VADDPS", t0, s.reg(r*v+i), s.reg(r*v+i))
		}
	}
	f.mark(skip)

	f.op("MOVQ", "tile_rowC(R14)", "R10")
	f.op("MOVQ", "tile_panelC(R14)", "R11")
	skip = f.fresh("alone")
	f.op("MOVQ", residualCur, "DI")
	f.op("TESTQ", "DI", "DI")
	f.op("JZ", skip)
	walk(func(r, i int) { f.op("VADDPS", part("DI", i), s.reg(r*v+i), s.reg(r*v+i)) })
	f.mark(skip)

	skip = f.fresh("free")
	f.op("CMPQ", "tile_clamp(R14)", 0)
	f.op("JEQ", skip)
	f.op("VBROADCASTSS", "tile_lo(R14)", t0)
	f.op("VBROADCASTSS", "tile_hi(R14)", t1)
	for i := range rows * v {
		// The sum is the second operand in Intel's order, so that NaN and −0 are kept.
		f.op("VMAXPS", s.reg(i), t0, s.reg(i))
		f.op("VMINPS", s.reg(i), t1, s.reg(i))
	}
	f.mark(skip)

	f.op("MOVQ", cCur, "DI")
	walk(func(r, i int) { f.op("VMOVUPS", s.reg(r*v+i), part("DI", i)) })
}

// nextTile advances the addresses in the stack frame to the next tile. It jumps to label if there
// is a next tile.
func (f *file) nextTile(label string) {
	done, within, alone := f.fresh("last"), f.fresh("within"), f.fresh("unread")
	step := func(operand string) string { return "tile_next" + operand + "-tile_nextA(CX)" }
	f.op("LEAQ", "tile_nextA(R14)", "CX")
	f.op("DECQ", countCur)
	f.op("JNZ", within)
	f.op("DECQ", roundCur)
	f.op("JLE", done)
	f.op("MOVQ", "tile_count(R14)", "BX")
	f.op("MOVQ", "BX", countCur)
	f.op("LEAQ", "tile_roundA(R14)", "CX") // the strides of a round have the same layout as those of a tile
	f.mark(within)
	f.op("MOVQ", step("A"), "BX")
	f.op("ADDQ", "BX", aCur)
	f.op("MOVQ", step("B"), "BX")
	f.op("ADDQ", "BX", bCur)
	f.op("MOVQ", step("C"), "BX")
	f.op("ADDQ", "BX", cCur)
	f.op("CMPQ", residualCur, 0)
	f.op("JEQ", alone)
	f.op("ADDQ", "BX", residualCur)
	f.mark(alone)
	f.op("CMPQ", biasCur, 0)
	f.op("JEQ", label)
	f.op("MOVQ", step("Bias"), "BX")
	f.op("ADDQ", "BX", biasCur)
	f.op("JMP", label)
	f.mark(done)
	f.ret()
}
