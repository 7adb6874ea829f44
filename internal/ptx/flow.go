package ptx

import "slices"

// bar decodes a barrier for all threads of a block.
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

// slots is a set of slots, one bit each.
type slots []uint64

func (s slots) add(slot int)      { s[slot/64] |= 1 << (slot % 64) }
func (s slots) has(slot int) bool { return s[slot/64]>>(slot%64)&1 != 0 }

// assignment is an analysis that finds the registers that are written on every path to an
// instruction.
type assignment struct {
	entry   *entry
	targets []bool // whether a jump leads to an instruction
	// registers written on all paths found so far, for the first instruction and the targets of
	// jumps; nil before the first path
	written []slots
	work    []int // instructions whose element of written changed
}

// checkAssigned fails if a kernel may read a register before it writes it: if some path to the read
// has no write. An instruction with a predicate does not count as a write, because it may not run.
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

// follow walks from instruction pc to the next target of a jump, or to an instruction that jumps or
// ends the kernel, and passes on the registers written on the way. If check is true, it fails where
// an instruction reads a register that is not written.
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

// reach records that a path leads to instruction pc with the registers now written. Only those
// written on all paths stay in a.written.
func (a *assignment) reach(pc int, now slots) {
	if a.written[pc] == nil {
		a.written[pc] = slices.Clone(now)
		a.work = append(a.work, pc)
		return
	}
	changed := false
	for i, w := range a.written[pc] {
		if both := w & now[i]; both != w {
			a.written[pc][i], changed = both, true
		}
	}
	if changed {
		a.work = append(a.work, pc)
	}
}
