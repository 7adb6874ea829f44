package kernel

import "slices"

// Shuffle returns the value that x has in thread t XOR n of the warp. t is the index in the warp of the thread that
// executes Shuffle; see the operation [Shuffle].
func (b *Builder) Shuffle(x *Value, n int) *Value {
	in := &Instr{Op: Shuffle, Args: []*Value{x}, Count: n}
	in.Results = []*Value{{Type: x.Type, Def: in}}
	signature(in)
	b.add(in)
	return in.Results[0]
}

// shuffle emits code for `in`, a [Shuffle]: each thread waits until all threads of its warp have reached the
// instruction. The machine then executes it for them.
func (c *compiler) shuffle(in *Instr) {
	next := &code{}
	x, d := c.slot(in.Args[0]), c.slot(in.Results[0])
	c.jump(in, next, func(t *thread) *code { t.waiting = in; return next })
	if c.machine.shuffles == nil {
		c.machine.shuffles = map[*Instr]func([]thread){}
	}
	c.machine.shuffles[in] = func(warp []thread) {
		var held [Warp]uint64
		for i := range warp {
			held[i] = warp[i].regs[x]
		}
		for i := range warp {
			warp[i].regs[d] = held[i^in.Count]
		}
	}
}

// shuffle executes a [Shuffle] for each warp whose threads all wait at it, and lets these threads continue. It
// reports whether there was such a warp.
func (m *machine) shuffle() bool {
	if m.shuffles == nil {
		return false
	}
	found := false
	for warp := range slices.Chunk(m.threads, Warp) {
		at := warp[0].waiting
		do := m.shuffles[at]
		if do == nil || slices.ContainsFunc(warp, func(t thread) bool { return t.waiting != at }) {
			continue
		}
		do(warp)
		for i := range warp {
			warp[i].held = false
		}
		found = true
	}
	return found
}
