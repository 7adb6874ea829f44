package ptx

import "slices"

// bar decodes a barrier of all threads of a block.
func (d *decoder) bar() {
	d.one("sync")
	d.operands(1)
	if o := d.args[0]; o.form != integer || o.bits != 0 {
		d.fail("only barrier 0 exists")
	}
	d.step.kind = barrier
}

func (d *decoder) bra() {
	d.has("uni")
	d.operands(1)
	s, ok := d.names.find(d.args[0].name)
	if !ok || s.what != label {
		d.fail("no label is called %s", d.args[0].name)
	}
	if s.at == d.total {
		d.fail("no instruction follows label %s", d.args[0].name)
	}
	d.step.kind, d.step.target = jump, s.at
}

func (d *decoder) ret() {
	d.operands(0)
	d.step.kind = end
}

// slots is a set of registers: a bit for each slot.
type slots []uint64

func (s slots) add(slot int)      { s[slot/64] |= 1 << (slot % 64) }
func (s slots) has(slot int) bool { return s[slot/64]>>(slot%64)&1 != 0 }

// assignment finds which registers have certainly been written when control reaches an instruction.
type assignment struct {
	entry   *entry
	targets []bool // instructions that jumps lead to
	// written has the registers that are written on all paths found so far to an instruction. Only the
	// first instruction and targets have an entry that is not nil.
	written []slots
	work    []int // instructions for which written has changed
}

// checkAssigned panics with a [mistake] if a register may be read before it is written, on any path
// of jumps. A write under a predicate does not count, because the predicate may prevent it.
func checkAssigned(e *entry) {
	a := &assignment{entry: e, targets: make([]bool, len(e.code)), written: make([]slots, len(e.code)), work: []int{0}}
	for _, s := range e.code {
		if s.kind == jump {
			a.targets[s.target] = true
		}
	}
	a.written[0] = make(slots, (len(e.registers)+63)/64)
	for len(a.work) > 0 {
		pc := a.work[len(a.work)-1]
		a.work = a.work[:len(a.work)-1]
		a.follow(pc, false)
	}
	for pc := range a.written {
		if a.written[pc] != nil {
			a.follow(pc, true)
		}
	}
}

// follow goes through the instructions from pc on. It stops at a ret, at a jump without a predicate, and at the
// next target of a jump. If check is true, it panics with a [mistake] if an instruction reads a register that has
// not been written.
func (a *assignment) follow(pc int, check bool) {
	now := slices.Clone(a.written[pc])
	for {
		s := &a.entry.code[pc]
		for _, slot := range s.reads {
			if check && slot < len(a.entry.registers) && !now.has(slot) {
				failAt(s.line, "%s: a register may be read before it is written", s.text)
			}
		}
		if s.guard < 0 {
			for _, slot := range s.writes {
				now.add(slot)
			}
		}
		if s.kind == jump {
			a.reach(s.target, now)
		}
		if s.guard < 0 && (s.kind == jump || s.kind == end) {
			return
		}
		if pc++; a.targets[pc] {
			a.reach(pc, now)
			return
		}
	}
}

// reach records a path to the instruction at pc on which the registers in `written` have been
// written.
func (a *assignment) reach(pc int, written slots) {
	if a.written[pc] == nil {
		a.written[pc] = slices.Clone(written)
		a.work = append(a.work, pc)
		return
	}
	changed := false
	for i, w := range a.written[pc] {
		if both := w & written[i]; both != w {
			a.written[pc][i], changed = both, true
		}
	}
	if changed {
		a.work = append(a.work, pc)
	}
}
