package main

import (
	"fmt"
	"math"
	"slices"
)

// value is a vector variable that a body computes with. It has a register for each of the
// interleaved vectors.
type value int

// vectors writes a body for one instruction set.
type vectors struct {
	*file
	isa
	interleaved int
	in          []value
	inUse       []bool            // values that are in use
	table       *table            // the constants in memory
	pinned      map[uint64]string // constants in registers
	wanted      [2][]uint64       // constants in the order of their use: those that must be in registers, and the others
	scalars     []string          // registers of the scalars
}

// top is the number of the last register that may hold a constant or a scalar. With AVX2, the
// register after it is reserved for the mask of [file.tail].
func (s isa) top() int {
	if s.bytes == 32 {
		return s.regs - 2
	}
	return s.regs - 1
}

// wide reports whether the instruction set is AVX-512, which has mask registers and VSCALEFPS.
func (s isa) wide() bool { return s.bytes == 64 }

func (s isa) lanes() int { return s.bytes / 4 }

// table is a table of constants in memory. Each constant is stored as 8 copies of 64 bits.
type table struct {
	name  string
	words []uint64
}

// row returns the memory operand of a constant. It adds the constant to the table if the table does
// not have it yet.
func (t *table) row(word uint64) string {
	i := slices.Index(t.words, word)
	if i < 0 {
		i = len(t.words)
		t.words = append(t.words, word)
	}
	return fmt.Sprintf("%s<>+%d(SB)", t.name, 64*i)
}

func (t *table) write(f *file) {
	var rows []uint32
	for _, w := range t.words {
		rows = append(rows, slices.Repeat([]uint32{uint32(w), uint32(w >> 32)}, 8)...)
	}
	f.words(t.name, rows...)
}

// word returns an operand for a 32-bit constant. The operand is a register or in memory.
func (k *vectors) word(w uint32) string { return k.constant(twice(w), 1) }

// pinWord returns the register of a 32-bit constant.
func (k *vectors) pinWord(w uint32) string { return k.constant(twice(w), 0) }

// long returns an operand for a 64-bit constant, and double for a float64. The operand is a
// register or in memory.
func (k *vectors) long(w uint64) string    { return k.constant(w, 1) }
func (k *vectors) double(v float64) string { return k.long(math.Float64bits(v)) }

func twice(w uint32) uint64 { return uint64(w)<<32 | uint64(w) }

func (k *vectors) constant(w uint64, class int) string {
	if !slices.Contains(k.wanted[class], w) {
		k.wanted[class] = append(k.wanted[class], w)
	}
	if r, ok := k.pinned[w]; ok {
		return r
	}
	return k.table.row(w)
}

// c returns an operand for a float32 constant: a register, or in memory. pin returns an operand
// that is always a register.
func (k *vectors) c(v float64) string   { return k.word(math.Float32bits(float32(v))) }
func (k *vectors) pin(v float64) string { return k.pinWord(math.Float32bits(float32(v))) }

func (k *vectors) temp() value {
	for i, used := range k.inUse {
		if !used {
			k.inUse[i] = true
			return value(i)
		}
	}
	k.inUse = append(k.inUse, true)
	return value(len(k.inUse) - 1)
}

func (k *vectors) free(vs ...value) {
	for _, v := range vs {
		k.inUse[v] = false
	}
}

// register returns the register of v that holds interleaved vector number `vector`.
func (k *vectors) register(v value, vector int) string {
	return k.reg(int(v)*k.interleaved + vector)
}

// do writes an instruction for every interleaved vector.
func (k *vectors) do(name string, operands ...any) {
	if k.arch == "arm64" {
		operands = k.loadOnce(name, operands)
	}
	for vector := range k.interleaved {
		at := make([]any, len(operands))
		for i, o := range operands {
			switch o := o.(type) {
			case value:
				at[i] = k.register(o, vector)
			case mask:
				at[i] = o.register(k, vector)
			case half:
				at[i] = k.halved(k.register(o.value, vector))
			default:
				at[i] = o
			}
		}
		k.op(name, at...)
	}
}

func (k *vectors) duplicate(v value) value {
	t := k.temp()
	k.do("VMOVAPS", v, t)
	return t
}

// fetch loads the vectors of v from adjacent places in memory. store stores them there.
func (k *vectors) fetch(v value, from string) {
	if k.arch == "arm64" {
		k.neighbours(v, from, false)
		return
	}
	for vector := range k.interleaved {
		k.op("VMOVUPS", at(from, vector*k.bytes), k.register(v, vector))
	}
}

func (k *vectors) store(v value, to string) {
	if k.arch == "arm64" {
		k.neighbours(v, to, true)
		return
	}
	for vector := range k.interleaved {
		k.op("VMOVUPS", k.register(v, vector), at(to, vector*k.bytes))
	}
}

// mask is the result of a comparison. It is either a value whose lanes are all ones or all zeros,
// or mask registers.
type mask struct{ value }

func (m mask) register(k *vectors, vector int) string {
	if k.wide() {
		return fmt.Sprintf("K%d", 2+vector)
	}
	return k.register(m.value, vector)
}

// half is an operand that names the lower half of a value's registers.
type half struct{ value }

func (s isa) halved(register string) string {
	if s.wide() {
		return "Y" + register[1:]
	}
	return "X" + register[1:]
}

// Predicates of VCMPPS that do not signal for a quiet NaN.
const (
	equal     = 0x00
	unordered = 0x03
	unequal   = 0x04 // true also for unordered operands
	less      = 0x11
	notLess   = 0x15
	greater   = 0x1e
)

// compare compares the lanes of a and b. The result is set in the lanes in which a `predicate` b
// holds; for example, predicate is `greater`. b may be an operand in memory.
func (k *vectors) compare(predicate int, a, b any) mask {
	var m mask
	if !k.wide() {
		m.value = k.temp()
	}
	k.do("VCMPPS", predicate, b, a, m)
	return m
}

// choose sets dst to `yes` in the lanes in which the mask is set, and to `no` in the other lanes.
// It frees the mask.
func (k *vectors) choose(m mask, yes any, no, dst value) {
	if k.wide() {
		k.do("VBLENDMPS", yes, no, m, dst)
		return
	}
	k.do("VBLENDVPS", m, yes, no, dst)
	k.free(m.value)
}

// only sets dst to v in the lanes in which the mask is set, and to 0 in the other lanes. v may be
// in memory. only frees the mask.
func (k *vectors) only(m mask, v any, dst value) {
	if k.wide() {
		k.do("VMOVUPS.Z", v, m, dst)
		return
	}
	k.do("VANDPS", v, m, dst)
	k.free(m.value)
}

// Rounding modes that do not report an inexact result.
const (
	nearestEven = 8
	down        = 9
	up          = 10
)

func (k *vectors) round(way int, v, dst value) {
	if k.wide() {
		k.do("VRNDSCALEPS", way, v, dst)
		return
	}
	k.do("VROUNDPS", way, v, dst)
}
