package main

import "fmt"

// byteSets are the instruction sets of amd64 for products of bytes. VNNI is AVX-512 together with
// an instruction that adds four products of bytes.
var byteSets = []isa{
	{name: "AVX2", reg: y, regs: 16, bytes: 32, rows: 4, panels: 1, clear: "VPXOR", perTile: 2},
	{name: "VNNI", reg: z, regs: 32, bytes: 64, rows: 14, panels: 2, clear: "VPXORD", perTile: 1},
}

// byteVariants returns the variants of the kernels for products of bytes, the best first.
func (f *file) byteVariants() []variant {
	if f.arch == "arm64" {
		return f.eachSet()
	}
	return []variant{{"level == AVX512 && vnni", "VNNI"}, {"level >= AVX2", "AVX2"}}
}

var bytesNEON = isa{name: "NEON", reg: v, regs: aside, bytes: 16, rows: 4, panels: 1, clear: "VXORPS", perTile: 4}

// byteTiles writes the kernels for matrix products of bytes, a times b. They are like the kernels
// of [tiles], with the same registers, except that an element is four adjacent bytes: of a row of
// a, or of a column of b.
func byteTiles(f *file) {
	mask := f.words("evenBytes", 0x00ff00ff)
	low := f.words("lowByte", 0xff)
	sets := byteSets
	if f.arch == "arm64" {
		sets = []isa{bytesNEON}
	}
	for _, s := range sets {
		f.framed(tileFrame, "byteTile"+s.name+" computes what byteTileRef does, t.rows × t.panels × 16 elements at a time.",
			"byteTile"+s.name, "t *tile", "")
		f.load("t", "R14")
		f.enter()
		f.strides()
		f.op("MOVQ", "tile_panelB(R14)", "R12")
		f.chooseTile(s)
		for p := 1; p <= s.panels; p++ {
			for r := 1; r <= s.rows; r++ {
				k := byteTile{file: f, isa: s, rows: r, v: p * s.perTile, sums: 1, low: low}
				if s.wide() {
					// Several sums per element hide the latency of the products, five cycles.
					for k.sums < 4 && r*k.v*k.sums < 10 {
						k.sums *= 2
					}
				}
				k.write(mask, tileLabel(r, p))
			}
		}
	}
	f.dispatch(dispatch{
		doc:      "runBytes calls the level's kernel for tiles of bytes.",
		function: "runBytes(t *tile)", variants: f.byteVariants(),
		kernels: only("byteTile"), args: "t", otherwise: "byteTileRef(t)",
	})
}

type byteTile struct {
	*file
	isa
	rows, v int // rows, and vector registers per row
	sums    int // accumulators per element
	low     string
}

// acc returns the register that accumulates the sums for row r and vector i of the tile's columns.
// If each element is the total of several sums, `sum` selects one of them. spare returns the i-th
// register that is not an accumulator. NEON keeps the first registers for the rows, because an
// instruction that multiplies by one 16-bit element can only use these registers.
func (k *byteTile) acc(sum, r, i int) string { return k.reg(k.kept() + (sum*k.rows+r)*k.v + i) }
func (k *byteTile) spare(i int) string       { return k.reg(k.kept() + k.rows*k.v*k.sums + i) }

func (k *byteTile) kept() int {
	if k.arch == "arm64" {
		return bytesNEON.rows
	}
	return 0
}

// column returns the memory operand for vector i of a field of the tile's byteColumns, for example
// "zero". CX points to the byteColumns.
func (k *byteTile) column(field string, i int) string {
	return fmt.Sprintf("(byteColumns_%s+%d)(CX)", field, i*k.bytes)
}

func (k *byteTile) write(mask, label string) {
	k.mark(label)
	k.startTile(k.rows)
	k.op("MOVQ", bCur, "DI")
	k.op("MOVQ", "tile_columns(R14)", "CX")
	for i := range k.v {
		k.op("VMOVUPS", k.column("first", i), k.acc(0, 0, i))
		for r := 1; r < k.rows; r++ {
			k.op("VMOVAPS", k.acc(0, 0, i), k.acc(0, r, i))
		}
	}
	for i := k.rows * k.v; i < k.rows*k.v*k.sums; i++ {
		k.op(k.clear, k.reg(i), k.reg(i), k.reg(i))
	}
	switch {
	case k.wide():
		k.steps(k.rows, false, k.step)
	case k.arch == "arm64":
		k.steps(k.rows, false, k.longStep)
	default:
		k.op("VPBROADCASTD", mask, k.reg(k.regs-1))
		k.steps(k.rows, false, k.wordStep)
	}
	for sum := 1; sum < k.sums; sum++ {
		for i := range k.rows * k.v {
			k.op("VPADDD", k.reg(sum*k.rows*k.v+i), k.reg(i), k.reg(i))
		}
	}
	k.finish()
	k.nextTile(label)
}

// b returns the operand for vector i of a step's columns.
func (k *byteTile) b(i int) string {
	disp := i % k.perTile * k.bytes
	if i >= k.perTile {
		return indexed("DI", disp, "R12", 1)
	}
	return at("DI", disp)
}

// step writes one step with VNNI: for each row and each column, it adds the products of four bytes.
// u is the index of the step among the unrolled steps.
func (k *byteTile) step(u int) {
	left := k.regs - k.rows*k.v*k.sums - k.v
	value := func(r int) string { return k.spare(k.v + r%min(4, left)) }
	if k.rows == 1 {
		k.op("VPBROADCASTD", k.row(0, 4*u), value(u))
		for i := range k.v {
			k.op("VPDPBUSD", k.b(i), value(u), k.acc(u%k.sums, 0, i))
		}
		k.op("ADDQ", 64, "DI")
		return
	}
	for i := range k.v {
		k.op("VMOVUPS", k.b(i), k.spare(i))
	}
	k.op("ADDQ", 64, "DI")
	for r := range k.rows {
		k.op("VPBROADCASTD", k.row(r, 4*u), value(r))
		for i := range k.v {
			k.op("VPDPBUSD", k.spare(i), value(r), k.acc(u%k.sums, r, i))
		}
	}
}

// wordStep is like [byteTile.step], for instruction sets without VNNI. It widens bytes to 16 bits,
// and handles even and odd bytes separately, because the sum of two products of bytes does not fit
// 16 bits.
func (k *byteTile) wordStep(u int) {
	mask := k.reg(k.regs - 1)
	even := func(i int) string { return k.spare(2 * i) }
	odd := func(i int) string { return k.spare(2*i + 1) }
	for i := range k.v {
		k.op("VMOVDQU", k.b(i), odd(i))
		k.op("VPSLLW", 8, odd(i), even(i))
		k.op("VPSRAW", 8, even(i), even(i))
		k.op("VPSRAW", 8, odd(i), odd(i))
	}
	k.op("ADDQ", 64, "DI")
	x, rest, t := k.spare(2*k.v), k.spare(2*k.v+1), k.spare(2*k.v+2)
	for r := range k.rows {
		k.op("VPBROADCASTD", k.row(r, 4*u), rest)
		k.op("VPAND", mask, rest, x)
		k.op("VPSRLW", 8, rest, rest)
		for i := range k.v {
			k.op("VPMADDWD", even(i), x, t)
			k.op("VPADDD", t, k.acc(0, r, i), k.acc(0, r, i))
			k.op("VPMADDWD", odd(i), rest, t)
			k.op("VPADDD", t, k.acc(0, r, i), k.acc(0, r, i))
		}
	}
}

// longStep is like [byteTile.step], for NEON. It widens bytes to 16 bits, multiplies them, and adds
// the products to sums of 32 bits. It handles the first byte of all columns, then the second, third
// and fourth.
func (k *byteTile) longStep(u int) {
	for r := range k.rows {
		k.line("FMOVS", k.memory(k.row(r, 4*u)), fr(r))
		k.line("VUSHLL", 0, k.reg(r)+".B8", k.reg(r)+".H8")
	}
	bytes := vector(k.spare(0))
	k.loadByFours("VLD4.P", at(general("DI"), 64), bytes)
	for i := range 4 {
		words := bytes + 4 + 2*(i%2)
		k.word("sshll", words, bytes+i, 0, 0)
		k.word("sshll2", words+1, bytes+i, 0, 0)
		for r := range k.rows {
			for half := range 2 {
				k.word("smlal", vector(k.acc(0, r, 2*half)), words+half, r, i)
				k.word("smlal2", vector(k.acc(0, r, 2*half+1)), words+half, r, i)
			}
		}
	}
}

// narrow stores 16 bytes at the address in register `to`: the lowest byte of each 32-bit lane of
// four registers. The four registers begin with register number `first`, and are overwritten.
func (f *file) narrow(first int, to string) {
	for i := range 2 {
		f.line("VUZP1", v(first+2*i+1)+".H8", v(first+2*i)+".H8", v(first+i)+".H8")
	}
	f.line("VUZP1", b16(first+1), b16(first), b16(first))
	f.line("FMOVQ", fr(first), at(general(to), 0))
}

// loadByFours loads the 64 bytes at operand `from` into four registers. Register number `first`
// gets bytes 0, 4, 8, …, the next register bytes 1, 5, 9, …, and so on. `instruction` is VLD4, or
// the form of VLD4 that also advances the address.
func (f *file) loadByFours(instruction, from string, first int) {
	f.line(instruction, from, fmt.Sprintf("[V%d.B16, V%d.B16, V%d.B16, V%d.B16]", first, first+1, first+2, first+3))
}

// finish completes the sums of the tile and stores them. If the tile has sums of rows, each sum is
// first reduced by the row's sum times the column's zero point. The kind of the tile says what is
// stored: the sums as int32, the scaled sums as float32, or the requantised sums as bytes.
func (k *byteTile) finish() {
	k.op("MOVQ", "tile_columns(R14)", "CX")
	plain := k.fresh("plain")
	k.op("MOVQ", biasCur, "BX")
	k.op("TESTQ", "BX", "BX")
	k.op("JZ", plain)
	less, times := k.spare(0), k.spare(1)
	for r := range k.rows {
		k.op("VPBROADCASTD", at("BX", 4*r), times)
		for i := range k.v {
			k.op("VPMULLD", k.column("zero", i), times, less)
			k.op("VPSUBD", less, k.acc(0, r, i), k.acc(0, r, i))
		}
	}
	k.mark(plain)

	k.op("MOVQ", "tile_rowC(R14)", "R10")
	k.op("MOVQ", "tile_panelC(R14)", "R11")
	k.op("MOVQ", cCur, "DI")
	scaled, whole, done := k.fresh("scaled"), k.fresh("whole"), k.fresh("stored")
	k.op("CMPQ", "tile_kind(R14)", "$const_bytesKind")
	k.op("JLT", whole)
	k.op("JGT", scaled)
	k.requantise()
	k.op("JMP", done)

	k.mark(scaled)
	for r := range k.rows {
		for i := range k.v {
			k.op("VCVTDQ2PS", k.acc(0, r, i), k.acc(0, r, i))
			k.op("VMULPS", k.column("scale", i), k.acc(0, r, i), k.acc(0, r, i))
			k.op("VADDPS", k.column("less", i), k.acc(0, r, i), k.acc(0, r, i))
		}
	}
	k.mark(whole)
	k.walk(func(r, i int) {
		disp := i % k.perTile * k.bytes
		to := at("DI", disp)
		if i >= k.perTile {
			to = indexed("DI", disp, "R11", 1)
		}
		k.op("VMOVUPS", k.acc(0, r, i), to)
	})
	k.mark(done)
}

// walk calls f for each vector of the tile, with its row and its index. When f runs, DI points to
// the row of the result.
func (k *byteTile) walk(f func(r, i int)) {
	for r := range k.rows {
		if r > 0 {
			k.op("ADDQ", "R10", "DI")
		}
		for i := range k.v {
			f(r, i)
		}
	}
}

// requantise converts the sums to bytes and stores them. The factor of a sum is scale + less, a
// pair of float32s that the tile's columns hold; the product is rounded to float32 once. The
// product is then clamped and rounded to an integer, and the zero point is added.
func (k *byteTile) requantise() {
	// A NaN becomes the smallest byte: in Go's operand order it stands second.
	product := k.spare(0)
	scale := func(r, i int) {
		a := k.acc(0, r, i)
		k.op("VCVTDQ2PS", a, a)
		k.op("VMULPS", k.column("less", i), a, product)
		k.op("VFMADD231PS", k.column("scale", i), a, product)
	}
	if k.wide() {
		k.walk(func(r, i int) {
			scale(r, i)
			k.op("VMAXPS.BCST", "tile_lo(R14)", product, product)
			k.op("VMINPS.BCST", "tile_hi(R14)", product, product)
			k.op("VCVTPS2DQ", product, product)
			k.op("VPADDD.BCST", "tile_last(R14)", product, product)
			to := "(DI)"
			if i > 0 {
				to = "(DI)(R11*1)"
			}
			k.op("VPMOVDB", product, to)
		})
		return
	}
	lo, hi, last, low := k.spare(1), k.spare(2), k.spare(3), k.spare(4)
	k.op("VBROADCASTSS", "tile_lo(R14)", lo)
	k.op("VBROADCASTSS", "tile_hi(R14)", hi)
	k.op("VPBROADCASTD", "tile_last(R14)", last)
	k.op("VPBROADCASTD", k.low, low)
	n := k.rows * k.v * k.sums
	k.walk(func(r, i int) {
		scale(r, i)
		k.op("VMAXPS", lo, product, product)
		k.op("VMINPS", hi, product, product)
		k.op("VCVTPS2DQ", product, product)
		k.op("VPADDD", last, product, product)
		k.op("VPAND", low, product, k.acc(0, r, i))
		switch {
		case i < k.v-1:
			return
		case k.arch == "arm64":
			k.narrow(vector(k.acc(0, r, 0)), "DI")
			return
		}
		first := (0*k.rows+r)*k.v + i - 1
		k.op("VPACKUSDW", k.reg(first+1), k.reg(first), k.reg(first))
		k.op("VPERMQ", 0xd8, k.reg(first), k.reg(first))
		k.op("VEXTRACTI128", 1, k.reg(first), x(n))
		k.op("VPACKUSWB", x(n), x(first), x(first))
		k.op("VMOVDQU", x(first), "(DI)")
	})
}
