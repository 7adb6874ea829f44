package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kernels are written once, with the instructions of amd64 with AVX2. For arm64, each instruction
// is translated to one or a few NEON instructions that compute the same bits. A vector register of
// NEON has four lanes of 32 bits. The translation uses the following registers itself.
const (
	aside    = 30    // vector, the result of a comparison or a sum
	loaded   = 31    // vector, an operand that is read from memory
	address  = "R16" // of an operand in memory
	constant = "R25" // address of a table of constants
)

var neon = isa{name: "NEON", reg: v, regs: aside, bytes: 16, rows: 6, panels: 1, clear: "VXORPS", perTile: 4, flight: 16}

func v(i int) string { return fmt.Sprintf("V%d", i) }

// generals maps the general registers of amd64 to registers of arm64. Registers from R8 on have the
// same names.
var generals = map[string]string{"DI": "R0", "SI": "R1", "DX": "R2", "CX": "R3", "AX": "R4", "BX": "R5"}

func general(o any) string {
	name := o.(string)
	if r, ok := generals[name]; ok {
		return r
	}
	return name
}

func vector(o any) int {
	n, err := strconv.Atoi(o.(string)[1:])
	if err != nil || !isVector(o) {
		panic(fmt.Sprintf("%v is not a vector register", o))
	}
	return n
}

func isVector(o any) bool {
	name, ok := o.(string)
	return ok && (name[0] == 'V' || name[0] == 'X') && !isMemory(o)
}

func isMemory(o any) bool {
	name, ok := o.(string)
	return ok && strings.Contains(name, "(")
}

var memoryOperand = regexp.MustCompile(`^(.*)\((\w+)\)(?:\((\w+)\*(\d)\))?$`)

// memory returns a memory operand in the notation of arm64. If needed, it writes the instructions
// that compute the address.
func (f *file) memory(o any) string {
	part := memoryOperand.FindStringSubmatch(o.(string))
	if part == nil {
		panic(fmt.Sprintf("%v is not a place in memory", o))
	}
	disp, base, index := part[1], part[2], part[3]
	switch symbol, offset, _ := strings.Cut(disp, "<>"); {
	case base == "FP", base == "SP":
		return o.(string)
	case base == "SB" && symbol == f.based:
		return strings.TrimPrefix(offset, "+") + "(" + constant + ")"
	case base == "SB":
		f.line("MOVD", "$"+o.(string), address)
		return "(" + address + ")"
	case index != "":
		shift := map[string]int{"1": 0, "2": 1, "4": 2, "8": 3}[part[4]]
		f.line("ADD", fmt.Sprintf("%s<<%d", general(index), shift), general(base), address)
		return disp + "(" + address + ")"
	}
	return disp + "(" + general(base) + ")"
}

// source returns the number of the vector register that holds an operand. It writes a load if the
// operand is in memory.
func (f *file) source(o any) int {
	if isVector(o) {
		return vector(o)
	}
	f.line("FMOVQ", f.memory(o), fr(loaded))
	return loaded
}

// loadOnce writes one load for each operand in memory, if several interleaved vectors use it. It
// returns the operands, with registers in place of memory. If vectors are not interleaved, or the
// instruction is itself a load, loadOnce returns the operands unchanged.
func (k *vectors) loadOnce(name string, operands []any) []any {
	if k.interleaved == 1 || name == "VMOVAPS" || name == "VMOVUPS" {
		return operands
	}
	operands = slices.Clone(operands)
	for i, o := range operands {
		if isMemory(o) {
			operands[i] = fmt.Sprintf("V%d", k.source(o))
		}
	}
	return operands
}

// takeTurns computes the same as [vectors.polynomial]. The sums of the multiply-adds alternate
// between two registers, because a multiply-add of NEON overwrites its addend with the sum.
func (k *vectors) takeTurns(p, x value, coefficients []float64) {
	last, turn := len(coefficients)-1, [2]value{p, k.temp()}
	k.do("VMOVAPS", k.c(coefficients[last]), turn[last%2])
	for i := last - 1; i >= 0; i-- {
		k.do("VMOVAPS", k.c(coefficients[i]), turn[i%2])
		k.do("VFMADD231PS", x, turn[(i+1)%2], turn[i%2])
	}
	k.free(turn[1])
}

// fillTail copies fill to register `to`, except the first CX lanes.
func (f *file) fillTail(fill, to string) {
	if f.arch == "wasm" {
		f.op(fillLanes, fill, to)
		return
	}
	f.line("VDUP", general("CX"), s4(aside))
	f.word("cmgt", aside, aside, f.source("indices<>(SB)"), 0)
	f.choice(aside, vector(to), vector(fill), vector(to))
}

// neighbours loads the vectors of v from the address in base. If store is true, it stores them
// there instead. If v is interleaved, one instruction moves two vectors.
func (k *vectors) neighbours(v value, base string, store bool) {
	load, save, registers := "FLDPQ", "FSTPQ", pair
	if k.interleaved == 1 {
		load, save, registers = "FMOVQ", "FMOVQ", fr
	}
	for i := 0; i < k.interleaved; i += 2 {
		place, register := at(general(base), 16*i), registers(vector(k.register(v, i)))
		if store {
			k.line(save, register, place)
		} else {
			k.line(load, place, register)
		}
	}
}

// base loads the address of a table of constants into a register, where it stays.
func (f *file) base(t *table) {
	if f.arch == "arm64" {
		f.line("MOVD", "$"+t.name+"<>(SB)", constant)
		f.based = t.name
	}
}

// fr and the functions below return the name of a vector register in Go's notation. fr names the
// whole register, pair two adjacent registers, s4 lanes of 4 bytes, d2 lanes of 8 bytes, and b16
// single bytes.
func fr(v int) string   { return fmt.Sprintf("F%d", v) }
func pair(v int) string { return fmt.Sprintf("(F%d, F%d)", v, v+1) }
func s4(v int) string   { return fmt.Sprintf("V%d.S4", v) }
func d2(v int) string   { return fmt.Sprintf("V%d.D2", v) }
func b16(v int) string  { return fmt.Sprintf("V%d.B16", v) }

func (f *file) copyVector(from, to int) {
	if from != to {
		f.line("VMOV", b16(from), b16(to))
	}
}

// choice sets dst to `yes` in the lanes whose mask is ones, and to `no` in the others.
func (f *file) choice(mask, yes, no, dst int) {
	switch dst {
	case no:
		f.line("VBIT", b16(mask), b16(yes), b16(dst))
	case yes:
		f.line("VBIF", b16(mask), b16(no), b16(dst))
	case mask:
		f.line("VBSL", b16(no), b16(yes), b16(dst))
	default:
		f.copyVector(no, dst)
		f.line("VBIT", b16(mask), b16(yes), b16(dst))
	}
}

// stepsByElement writes n steps of the sums of a tile; n is 1 or 4. In a step, each row multiplies
// one of its elements by v vectors of b, and adds the products to its sums. After four steps, the
// row advances by 16 bytes. After a single step, it advances by the operand `by`. acc returns the
// registers of the sums; see [byteTile.acc]. Registers from number `used` on are free.
func (f *file) stepsByElement(rows, n int, by any, used, v int, acc func(sum, r, i int) string) {
	bases, _ := f.rowBases()
	for r := range rows {
		switch at := "(" + general(bases[r]) + ")"; {
		case n == 4:
			f.line("FMOVQ.P", "16"+at, fr(used+r))
		case by == 4:
			f.line("FMOVS.P", "4"+at, fr(used+r))
		default:
			f.line("FMOVS", at, fr(used+r))
			f.op("ADDQ", by, bases[r])
		}
	}
	first := used + rows
	columns := min(v, loaded+1-first) &^ 1
	sums := used / (rows * v)
	for u := range n {
		for i := range v {
			b := first + i%columns
			if i%2 == 0 {
				f.line("FLDPQ", at(general("DI"), 16*i), pair(b))
			}
			if i == v-2 {
				f.op("ADDQ", "R15", "DI")
			}
			for r := range rows {
				f.word("fmla", vector(acc(u%sums, r, i)), b, used+r, u)
			}
		}
	}
}

// tailOf writes the code that loads or stores a register of four lanes. If CX is less than 4, only
// the first CX lanes are loaded or stored. Lanes that are not loaded become zero.
func (f *file) tailOf(from, to string) {
	if f.arch == "wasm" {
		f.tailOfWasm(from, to)
		return
	}
	whole, single, end := f.fresh("whole"), f.fresh("single"), f.fresh("done")
	count := general("CX")
	one, register, place := "VLD1", to, from
	if isMemory(to) {
		one, register, place = "VST1", from, to
	}
	v, place := vector(register), f.memory(place)
	move := func(name, place, register string) {
		if one == "VST1" {
			place, register = register, place
		}
		f.line(name, place, register)
	}
	f.setFlags("CMP", 4, count)
	f.line("BGE", whole)
	f.line("TBZ", 1, count, single)
	move("FMOVD", place, fr(v))
	f.line("TBZ", 0, count, end)
	f.line("ADD", 8, place[strings.Index(place, "(")+1:len(place)-1], address)
	move(one, "("+address+")", fmt.Sprintf("V%d.S[2]", v))
	f.line("JMP", end)
	f.mark(single)
	move("FMOVS", place, fr(v))
	f.line("JMP", end)
	f.mark(whole)
	move("FMOVQ", place, fr(v))
	f.mark(end)
}

// translate writes arm64 instructions for one amd64 instruction, with operands o. If the amd64
// instruction sets flags, the arm64 instructions do not always set them. A conditional branch must
// not rely on these flags.
func (f *file) translate(name string, o []any) {
	t, ok := translations[name]
	if !ok {
		panic("no translation of " + name)
	}
	t(f, o)
}

type translation = func(f *file, o []any)

var translations = map[string]translation{
	"PREFETCHT0": func(f *file, o []any) { f.line("PRFM", f.memory(o[0]), "PLDL1KEEP") },
	"PCALIGN":    func(f *file, o []any) { f.line("PCALIGN", 16) },
	"VZEROUPPER": func(f *file, o []any) {},
	"RET":        func(f *file, o []any) { f.line("RET") },

	"MOVQ": func(f *file, o []any) {
		from, to := o[0], o[1]
		switch {
		case isMemory(from):
			from = f.memory(from)
		case isMemory(to):
			from, to = general(from), f.memory(to)
			f.line("MOVD", from, to)
			return
		default:
			from = immediateOr(from)
		}
		f.line("MOVD", from, general(to))
	},
	"LEAQ": func(f *file, o []any) {
		part := memoryOperand.FindStringSubmatch(o[0].(string))
		if (part[1] == "" || part[1] == "0") && part[3] != "" {
			shift := map[string]int{"1": 0, "2": 1, "4": 2, "8": 3}[part[4]]
			f.line("ADD", fmt.Sprintf("%s<<%d", general(part[3]), shift), general(part[2]), general(o[1]))
			return
		}
		f.line("MOVD", "$"+f.memory(o[0]), general(o[1]))
	},
	"ADDQ": func(f *file, o []any) {
		f.flags = false
		by := o[0]
		if isMemory(by) {
			f.line("MOVD", f.memory(by), address)
			by = address
		}
		if isMemory(o[1]) {
			f.line("MOVD", f.memory(o[1]), address)
			f.line("ADD", immediateOr(by), address)
			f.line("MOVD", address, f.memory(o[1]))
			return
		}
		f.line("ADD", immediateOr(by), general(o[1]))
	},
	"SUBQ": func(f *file, o []any) { f.setFlags("SUBS", immediateOr(o[0]), general(o[1])) },
	"ANDQ": func(f *file, o []any) { f.setFlags("ANDS", immediateOr(o[0]), general(o[1])) },
	"XORQ": func(f *file, o []any) {
		f.flags = false
		f.line("EOR", general(o[0]), general(o[1]))
	},
	"SHRQ": func(f *file, o []any) {
		f.line("LSR", o[0], general(o[1]))
		f.setFlags("CMP", 0, general(o[1]))
	},
	"DECQ": func(f *file, o []any) {
		if !isMemory(o[0]) {
			f.setFlags("SUBS", 1, general(o[0]))
			return
		}
		f.line("MOVD", f.memory(o[0]), address)
		f.setFlags("SUBS", 1, address)
		f.line("MOVD", address, f.memory(o[0]))
	},
	"CMPQ": func(f *file, o []any) {
		a := o[0]
		if isMemory(a) {
			f.line("MOVD", f.memory(a), address)
			a = address
		}
		f.setFlags("CMP", immediateOr(o[1]), general(a))
	},
	"TESTQ": func(f *file, o []any) { f.setFlags("CMP", 0, general(o[0])) },
	"JMP":   func(f *file, o []any) { f.line("JMP", o[0]) },
	"JEQ":   branch("BEQ"),
	"JZ":    branch("BEQ"),
	"JNE":   branch("BNE"),
	"JNZ":   branch("BNE"),
	"JLT":   branch("BLT"),
	"JLE":   branch("BLE"),
	"JGT":   branch("BGT"),
	"JGE":   branch("BGE"),

	"VMOVUPS":      move,
	"VMOVAPS":      move,
	"VMOVDQU":      move,
	"VMOVSS":       func(f *file, o []any) { f.line("FMOVS", fr(vector(o[0])), f.memory(o[1])) },
	"VBROADCASTSS": broadcast,
	"VPBROADCASTD": broadcast,
	"VBROADCASTSD": func(f *file, o []any) {
		to := vector(o[1])
		f.line("FMOVD", f.memory(o[0]), fr(to))
		f.line("VDUP", fmt.Sprintf("V%d.D[0]", to), d2(to))
	},

	"VADDPS":       exact("fadd"),
	"VSUBPS":       exact("fsub"),
	"VMULPS":       exact("fmul"),
	"VDIVPS":       exact("fdiv"),
	"VADDPD":       exact("fadd" + double),
	"VSUBPD":       exact("fsub" + double),
	"VMULPD":       exact("fmul" + double),
	"VDIVPD":       exact("fdiv" + double),
	"VFMADD231PS":  plain("VFMLA", s4),
	"VFNMADD231PS": plain("VFMLS", s4),
	"VFMADD231PD":  plain("VFMLA", d2),
	"VFNMADD231PD": plain("VFMLS", d2),
	"VFMADD213PS":  addend(s4),
	"VFMADD213PD":  addend(d2),
	"VMAXPS":       extremes("fcmgt", func(a, b int) (int, int) { return a, b }),
	"VMINPS":       extremes("fcmgt", func(a, b int) (int, int) { return b, a }),
	"VMAXPD":       extremes("fcmgt"+double, func(a, b int) (int, int) { return a, b }),
	"VMINPD":       extremes("fcmgt"+double, func(a, b int) (int, int) { return b, a }),
	"VSQRTPS":      single("fsqrt"),
	"VCVTPS2DQ":    single("fcvtns"),
	"VCVTDQ2PS":    single("scvtf"),
	"VROUNDPS": func(f *file, o []any) {
		way := map[int]string{nearestEven: "frintn", down: "frintm", up: "frintp"}[o[0].(int)]
		f.word(way, vector(o[2]), f.source(o[1]), 0, 0)
	},

	"VANDPS":  plain("VAND", b16),
	"VPAND":   plain("VAND", b16),
	"VORPS":   plain("VORR", b16),
	"VXORPS":  plain("VEOR", b16),
	"VPXOR":   plain("VEOR", b16),
	"VPMAXUB": plain("VUMAX", b16),
	"VANDPD":  plain("VAND", b16),
	"VORPD":   plain("VORR", b16),
	"VPADDD":  plain("VADD", s4),
	"VPSUBD":  plain("VSUB", s4),
	"VPMULLD": exact("mul"),
	"VPADDQ":  plain("VADD", d2),
	"VPSUBQ":  plain("VSUB", d2),
	"VPSLLD":  shift("VSHL", s4),
	"VPSRLD":  shift("VUSHR", s4),
	"VPSLLQ":  shift("VSHL", d2),
	"VPSRLQ":  shift("VUSHR", d2),
	"VPSRAD":  func(f *file, o []any) { f.word("sshr", vector(o[2]), vector(o[1]), 0, o[0].(int)) },

	// A vector of AVX holds twice as many float64 as a vector of NEON: each half of an AVX register
	// is a register of its own.
	"VCVTPS2PD":    single("fcvtl"),
	"VCVTPD2PSY":   single("fcvtn"),
	"VEXTRACTF128": func(f *file, o []any) { f.line("VEXT", 8, b16(vector(o[1])), b16(vector(o[1])), b16(vector(o[2]))) },
	"VINSERTF128": func(f *file, o []any) {
		f.line("VTRN1", d2(vector(o[1])), d2(vector(o[2])), d2(vector(o[3])))
	},
	"VCMPPS": func(f *file, o []any) {
		b, a, m := f.source(o[1]), vector(o[2]), vector(o[3])
		switch o[0].(int) {
		case equal:
			f.word("fcmeq", m, a, b, 0)
		case unequal:
			f.word("fcmeq", m, a, b, 0)
			f.word("mvn", m, m, 0, 0)
		case greater:
			f.word("fcmgt", m, a, b, 0)
		case less:
			f.word("fcmgt", m, b, a, 0)
		case notLess:
			f.word("fcmgt", m, b, a, 0)
			f.word("mvn", m, m, 0, 0)
		case unordered:
			if a != b {
				panic("only a value and itself are compared for NaN")
			}
			f.word("fcmeq", m, a, a, 0)
			f.word("mvn", m, m, 0, 0)
		}
	},
	"VBLENDVPS": func(f *file, o []any) { f.choice(vector(o[0]), f.source(o[1]), vector(o[2]), vector(o[3])) },
	"VPERMILPS": func(f *file, o []any) {
		from, to := vector(o[1]), vector(o[2])
		switch o[0].(int) {
		case swapHalves:
			f.line("VEXT", 8, b16(from), b16(from), b16(to))
		case swapNeighbours:
			f.line("VREV64", s4(from), s4(to))
		}
	},
}

// immediateOr returns o if it is an immediate, and otherwise the arm64 name of the general register
// o.
func immediateOr(o any) any {
	if _, ok := o.(int); ok {
		return o
	}
	return general(o)
}

// setFlags writes an arm64 instruction that sets the flags as its counterpart on amd64 does.
func (f *file) setFlags(name string, o ...any) {
	f.line(name, o...)
	f.flags = true
}

func branch(name string) translation {
	return func(f *file, o []any) {
		if !f.flags {
			panic("a branch depends on flags that are not set")
		}
		f.line(name, o...)
	}
}

// move translates a load, a store or a copy of a vector.
func move(f *file, o []any) {
	switch {
	case isMemory(o[0]):
		f.line("FMOVQ", f.memory(o[0]), fr(vector(o[1])))
	case isMemory(o[1]):
		f.line("FMOVQ", fr(vector(o[0])), f.memory(o[1]))
	default:
		f.copyVector(vector(o[0]), vector(o[1]))
	}
}

// broadcast translates the copy of a number to all lanes. The number is in memory, or in the first
// lane of a register.
func broadcast(f *file, o []any) {
	to := vector(o[1])
	from := to
	if isVector(o[0]) {
		from = vector(o[0])
	} else {
		f.line("FMOVS", f.memory(o[0]), fr(to))
	}
	f.line("VDUP", fmt.Sprintf("V%d.S[0]", from), s4(to))
}

// exact translates an arithmetic instruction with two operands to the instruction `name` of
// [encodings]. NEON has the two operands in the opposite order.
func exact(name string) translation {
	return func(f *file, o []any) { f.word(name, vector(o[2]), vector(o[1]), f.source(o[0]), 0) }
}

// single translates an instruction with one operand to the instruction `name` of [encodings].
func single(name string) translation {
	return func(f *file, o []any) { f.word(name, vector(o[1]), f.source(o[0]), 0, 0) }
}

// plain translates an instruction with two operands to the instruction `name` of Go's assembler.
// lanes returns the name of a vector register with its lanes, such as [s4].
func plain(name string, lanes func(int) string) translation {
	return func(f *file, o []any) { f.line(name, lanes(f.source(o[0])), lanes(vector(o[1])), lanes(vector(o[2]))) }
}

func shift(name string, lanes func(int) string) translation {
	return func(f *file, o []any) { f.line(name, o[0], lanes(vector(o[1])), lanes(vector(o[2]))) }
}

// addend translates a multiply-add whose destination is also a factor: dst = dst·second + first.
// NEON overwrites the addend with the sum, so the translation computes in a scratch register and
// copies the sum.
func addend(lanes func(int) string) translation {
	return func(f *file, o []any) {
		move(f, []any{o[0], v(aside)})
		f.line("VFMLA", lanes(vector(o[1])), lanes(vector(o[2])), lanes(aside))
		f.copyVector(aside, vector(o[2]))
	}
}

// extremes translates AVX's minimum or maximum of a and b. order(a, b) returns two registers,
// `high` and `low`. The result is a if `high` is greater than `low`, and b otherwise. It is
// therefore b if a and b are equal, or if one is NaN. The minimum and maximum of NEON are not used
// because they treat −0 and NaN differently.
func extremes(compare string, order func(a, b int) (int, int)) translation {
	return func(f *file, o []any) {
		b, a, dst := f.source(o[0]), vector(o[1]), vector(o[2])
		high, low := order(a, b)
		f.word(compare, aside, high, low, 0)
		f.choice(aside, a, b, dst)
	}
}
