// Package ptx reads, checks and runs modules in PTX, the assembly language of CUDA, on the CPU. It
// knows the subset of instructions that this repository writes, and their definition in NVIDIA's
// manual. It does not know how PTX is written. Tests check the writers of PTX with it.
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

// Check returns an error if text is not a module in the subset of PTX that this package reads. It finds wrong syntax,
// and names that are not declared or declared twice. It finds operands that do not have the type that their
// instruction requires. It also finds registers that may be read before they are written.
func Check(text string) error {
	_, err := Parse(text)
	return err
}

type entry struct {
	name      string
	params    []variable
	threads   [3]int   // of a block, as the text requires; 0 if it does not
	most      int      // threads that a block may have
	shared    int      // bytes of arrays
	registers []typ    // by slot
	constants []uint64 // in the slots after the registers
	code      []step
}

type variable struct {
	name string
	typ  typ
}

// symbol is the meaning of a name.
type symbol struct {
	what what
	at   int // a slot, the number of a parameter, an offset in shared memory, or an instruction
}

type what uint8

const (
	register what = iota + 1
	parameter
	array   // in shared memory
	dynamic // after all arrays in shared memory
	label
)

// typ is the type of a register or an operand: the letter and the number of bits of its name. The
// letter of bf16 is 'h', and the letter of a predicate 'p'.
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

// typeOf returns the type with a name such as "u32". It returns false if there is no such type.
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

func (t typ) mask() uint64 { return 1<<t.bits - 1 }

// fits reports whether a register of type r can be an operand of type t. Both must have the same width. A type of
// plain bits fits every type except a predicate. Signed and unsigned integers fit each other.
func fits(r, t typ) bool {
	switch {
	case r.bits != t.bits || (r == pred) != (t == pred):
		return false
	case r.kind == 'b' || t.kind == 'b':
		return true
	}
	return r.kind == t.kind || r.isInt() && t.isInt()
}

// fitsWide is like [fits], but also accepts a register that is wider than t if neither type is a float or a predicate.
func fitsWide(r, t typ) bool {
	isBits := func(t typ) bool { return t.kind == 'b' || t.isInt() }
	return fits(r, t) || r.bits > t.bits && isBits(r) && isBits(t)
}
