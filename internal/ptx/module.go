// Package ptx reads, checks and runs modules in PTX, the assembly language of CUDA, on the CPU. It
// knows the subset of instructions that this repository writes, and what NVIDIA's manual says of
// them. It knows nothing of how they are written: it is what tests judge the writers by.
package ptx

import "fmt"

// Module holds the kernels of a PTX text. It does not change, so several launches may share it.
type Module struct {
	entries map[string]*entry
	names   []string
}

// Kernels returns the names of the kernels in the order of the text.
func (m *Module) Kernels() []string { return m.names }

// Params returns the number of parameters of a kernel. It returns an error if there is no such kernel.
func (m *Module) Params(kernel string) (int, error) {
	e, err := m.entry(kernel)
	if err != nil {
		return 0, err
	}
	return len(e.params), nil
}

func (m *Module) entry(kernel string) (*entry, error) {
	if e := m.entries[kernel]; e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("ptx: no kernel is called %q", kernel)
}

// Check returns an error if a text is not a module in the subset that this package knows: if its
// syntax is wrong, a name is not declared or is declared twice, an operand's type does not suit its
// instruction, or a register may be read before it is written.
func Check(text string) error {
	_, err := Parse(text)
	return err
}

// entry is a kernel.
type entry struct {
	name      string
	params    []variable
	threads   [3]int   // threads of a block that the text requires in each dimension, or 0
	most      int      // greatest number of threads of a block
	shared    int      // bytes of the arrays in shared memory
	registers []typ    // types of the registers, by slot
	constants []uint64 // values of the slots after the registers
	code      []step
}

// variable is a parameter of a kernel.
type variable struct {
	name string
	typ  typ
}

// symbol is what a declared name refers to.
type symbol struct {
	what what
	// slot of a register, number of a parameter, offset in shared memory, or index of an
	// instruction
	at int
}

type what uint8

const (
	register what = iota + 1
	parameter
	array   // an array in shared memory
	dynamic // the array whose size the launch decides
	label
)

// typ is the type of a register or of an operand: the letter and the number of bits of its name.
// The letter of bf16 is 'h', and that of a predicate is 'p'.
type typ struct {
	kind byte
	bits int
}

var pred = typ{'p', 1}

func (t typ) String() string {
	switch t.kind {
	case 'p':
		return "pred"
	case 'h':
		return "bf16"
	}
	return fmt.Sprintf("%c%d", t.kind, t.bits)
}

// typeOf returns the type with a name such as "u32". ok is false if there is none.
func typeOf(name string) (typ, bool) {
	switch name {
	case "pred":
		return pred, true
	case "bf16":
		return typ{'h', 16}, true
	case "b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f32", "f64":
		var t typ
		t.kind = name[0]
		fmt.Sscan(name[1:], &t.bits)
		return t, true
	}
	return typ{}, false
}

func (t typ) isInt() bool   { return t.kind == 's' || t.kind == 'u' }
func (t typ) isFloat() bool { return t.kind == 'f' || t.kind == 'h' }

// mask returns a number whose low t.bits bits are set.
func (t typ) mask() uint64 { return 1<<t.bits - 1 }

// fits reports whether a register of type r can be an operand of type t. A register of a type b16,
// b32 or b64 suits every operand type of its width, and an operand of such a type every register
// type of its width.
func fits(r, t typ) bool {
	switch {
	case r.bits != t.bits || (r == pred) != (t == pred):
		return false
	case r.kind == 'b' || t.kind == 'b':
		return true
	}
	return r.kind == t.kind || r.isInt() && t.isInt()
}

// fitsWide is fits for loads and stores, which also accept a register wider than the element.
func fitsWide(r, t typ) bool {
	isBits := func(t typ) bool { return t.kind == 'b' || t.isInt() }
	return fits(r, t) || r.bits > t.bits && isBits(r) && isBits(t)
}
