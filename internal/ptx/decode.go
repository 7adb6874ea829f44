package ptx

import (
	"slices"
	"strings"
)

type step struct {
	kind    stepKind
	guard   int // the slot of a predicate, or -1
	negated bool
	exec    func(t *thread)
	warp    func(threads []thread) // runs for a warp when all threads of the block have come here; may be nil
	target  int                    // of a branch
	reads   []int                  // slots
	writes  []int
	line    int
	text    string
}

type stepKind uint8

const (
	ordinary stepKind = iota
	jump
	barrier
	end
)

type decoder struct {
	*parser
	pendingStep
	step      step
	constants map[uint64]int // slots
	total     int            // instructions of the kernel
	mods      []string       // unread parts of the instruction's name, after the first dot
}

var instructions = map[string]func(d *decoder){
	"add": (*decoder).sum, "sub": (*decoder).sum, "mul": (*decoder).mul, "mad": (*decoder).mad, "fma": (*decoder).fma,
	"div": (*decoder).div, "rem": (*decoder).rem, "min": (*decoder).extreme, "max": (*decoder).extreme,
	"neg": (*decoder).sign, "abs": (*decoder).sign, "sqrt": (*decoder).sqrt, "ex2": (*decoder).ex2,
	"and": (*decoder).logic, "or": (*decoder).logic, "xor": (*decoder).logic, "not": (*decoder).not,
	"shl": (*decoder).shift, "shr": (*decoder).shift, "bfe": (*decoder).extract, "bfi": (*decoder).insert,
	"setp": (*decoder).compare, "selp": (*decoder).choose, "mov": (*decoder).mov, "cvt": (*decoder).cvt, "cvta": (*decoder).cvta,
	"ld": (*decoder).load, "st": (*decoder).store, "atom": (*decoder).atom,
	"mma": (*decoder).mma, "shfl": (*decoder).shuffle, "bar": (*decoder).bar, "bra": (*decoder).bra, "ret": (*decoder).ret,
}

// decode decodes the instructions of a kernel. It panics with a [mistake] if one of them is wrong. The last
// instruction must be a ret or a jump without a predicate.
func (p *parser) decode(steps []pendingStep) {
	e := p.entry
	constants := map[uint64]int{}
	for _, s := range steps {
		d := &decoder{parser: p, pendingStep: s, constants: constants, total: len(steps)}
		d.step = step{guard: -1, negated: s.negated, line: s.op.line, text: s.text}
		if s.guard != "" {
			d.step.guard = d.register(operand{form: named, name: s.guard}, pred, fits)
			d.step.reads = append(d.step.reads, d.step.guard)
		}
		name, mods, _ := strings.Cut(s.op.text, ".")
		decode := instructions[name]
		if decode == nil {
			d.fail("unknown instruction")
		}
		if mods != "" {
			d.mods = strings.Split(mods, ".")
		}
		decode(d)
		if len(d.mods) > 0 {
			d.fail(".%s has no meaning here", d.mods[0])
		}
		e.code = append(e.code, d.step)
	}
	if n := len(e.code); n == 0 || e.code[n-1].guard >= 0 || e.code[n-1].kind != end && e.code[n-1].kind != jump {
		failAt(p.next.line, "kernel %s does not end with ret", e.name)
	}
}

func (d *decoder) fail(format string, args ...any) {
	failAt(d.op.line, "%s: "+format, append([]any{d.text}, args...)...)
}

// has reports whether the next part of the instruction's name is mod. If so, it reads the part.
func (d *decoder) has(mod string) bool {
	if len(d.mods) == 0 || d.mods[0] != mod {
		return false
	}
	d.mods = d.mods[1:]
	return true
}

// one reads the next part of the instruction's name, and returns it. The part must be one of `parts`.
func (d *decoder) one(parts ...string) string {
	if len(d.mods) == 0 || !slices.Contains(parts, d.mods[0]) {
		d.fail("the name needs one of .%s", strings.Join(parts, " ."))
	}
	mod := d.mods[0]
	d.mods = d.mods[1:]
	return mod
}

// typ reads the next part of the instruction's name, and returns it as a type. The type must be one of the names in
// `list`.
func (d *decoder) typ(list string) typ {
	t, _ := typeOf(d.one(strings.Fields(list)...))
	return t
}

func (d *decoder) operands(n int) {
	if len(d.args) != n {
		d.fail("%d operands, want %d", len(d.args), n)
	}
}

// register returns the slot of the register o: the index at which a thread stores its value. It panics with a
// [mistake] if the type of the register does not agree with t, the type that the instruction requires.
func (d *decoder) register(o operand, t typ, agree func(r, t typ) bool) int {
	if o.form != named {
		d.fail("an operand is not a register")
	}
	s, ok := d.names.find(o.name)
	if !ok || s.what != register {
		d.fail("%s is not a declared register", o.name)
	}
	if r := d.entry.registers[s.at]; !agree(r, t) {
		d.fail("%s is .%s, want .%s", o.name, r, t)
	}
	return s.at
}

// to returns the slot, see [decoder.register], of operand i. The operand is a register of type t that the
// instruction writes.
func (d *decoder) to(i int, t typ) int {
	slot := d.register(d.args[i], t, fits)
	d.step.writes = append(d.step.writes, slot)
	return slot
}

// from returns the slot, see [decoder.register], of operand i. The operand is a register or a constant of type t
// that the instruction reads.
func (d *decoder) from(i int, t typ) int { return d.source(d.args[i], t, fits) }

func (d *decoder) source(o operand, t typ, agree func(r, t typ) bool) int {
	switch o.form {
	case integer:
		if t.isFloat() || !o.inRange(t) {
			d.fail("%d is not a constant of .%s", int64(o.bits), t)
		}
		return d.constant(o.bits & t.mask())
	case float32Bits, float64Bits:
		if t.kind != 'f' || t.bits == 32 != (o.form == float32Bits) {
			d.fail("a float is not a constant of .%s", t)
		}
		return d.constant(o.bits)
	}
	slot := d.register(o, t, agree)
	d.step.reads = append(d.step.reads, slot)
	return slot
}

// constant returns the slot of a constant. Constants have the slots after the registers, so that
// instructions read both in the same way.
func (d *decoder) constant(bits uint64) int {
	slot, ok := d.constants[bits]
	if !ok {
		slot = len(d.entry.registers) + len(d.entry.constants)
		d.constants[bits] = slot
		d.entry.constants = append(d.entry.constants, bits)
	}
	return slot
}
