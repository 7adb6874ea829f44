package kernel

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// program is a kernel that is compiled for a [machine]. Each thread has a register for each value of the kernel.
type program struct {
	entry   *code
	initial []uint64 // registers of a thread at the start of a block
}

// code is a sequence of steps without control flow. When the steps have run, its function `end` chooses the code
// that runs next.
type code struct {
	steps []func(t *thread)
	at    []*Instr              // the instruction that each step belongs to
	end   func(t *thread) *code // returns the code that runs next, or nil at the end of the kernel
	last  *Instr                // the instruction that end belongs to, or nil at the end of the kernel
}

type compiler struct {
	machine *machine
	arrays  map[*Value]*array
	slots   map[*Value]int
	initial []uint64
	code    *code // the code that new steps are appended to
}

func compile(m *machine, args *arguments) *program {
	c := &compiler{machine: m, arrays: args.arrays, slots: map[*Value]int{}}
	for v, bits := range args.numbers {
		c.set(v, bits)
	}
	entry := &code{}
	c.code = entry
	c.block(m.kernel.Body)
	c.code.end = func(*thread) *code { return nil }
	return &program{entry, c.initial}
}

func (c *compiler) slot(v *Value) int {
	i, ok := c.slots[v]
	if !ok {
		i = len(c.initial)
		c.initial = append(c.initial, 0)
		c.slots[v] = i
	}
	return i
}

func (c *compiler) set(v *Value, bits uint64) {
	i := c.slot(v)
	c.initial[i] = bits
}

func (c *compiler) slotsOf(list []*Value) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = c.slot(v)
	}
	return out
}

func (c *compiler) share(list, owners []*Value) {
	for i, v := range list {
		c.slots[v] = c.slot(owners[i])
	}
}

func (c *compiler) emit(in *Instr, step func(t *thread)) {
	c.code.steps = append(c.code.steps, step)
	c.code.at = append(c.code.at, in)
}

// jump ends the current code. At the end of this code, the machine calls `end`, which returns the code that runs
// next. in is the instruction that `end` belongs to. Steps that are emitted later go to `next`.
func (c *compiler) jump(in *Instr, next *code, end func(t *thread) *code) {
	c.code.last, c.code.end = in, end
	c.code = next
}

func to(next *code) func(*thread) *code { return func(*thread) *code { return next } }

// move emits a step of instruction `in` that copies src[i] to dst[i] for all i at once. The same value may be in
// src and in dst.
func (c *compiler) move(in *Instr, dst, src []*Value) {
	to, from := c.slotsOf(dst), c.slotsOf(src)
	switch len(to) {
	case 0:
	case 1:
		d, s := to[0], from[0]
		c.emit(in, func(t *thread) { t.regs[d] = t.regs[s] })
	default:
		held := make([]uint64, len(to))
		c.emit(in, func(t *thread) {
			for i, s := range from {
				held[i] = t.regs[s]
			}
			for i, d := range to {
				t.regs[d] = held[i]
			}
		})
	}
}

func (c *compiler) block(b *Block) {
	for _, in := range b.Instrs {
		switch in.Op {
		case For:
			c.forLoop(in)
		case If:
			c.branch(in)
		case While:
			c.whileLoop(in)
		case Barrier:
			next := &code{}
			c.jump(in, next, func(t *thread) *code { t.waiting = in; return next })
		case MatMulAdd:
			c.collective(in)
		case Shuffle:
			c.shuffle(in)
		case GroupIdx:
			d := c.slot(in.Results[0])
			c.emit(in, func(t *thread) { t.regs[d] = uint64(t.group()) })
		case Registers: // a hint
		case GroupBarrier, Arrive, Await, CopyBox, MultiplyTiles, MultiplyHeld, SetSum, Commit, Drain, Sum:
			c.pipeline(in)
		case Const:
			c.set(in.Results[0], in.Bits)
		case Load:
			c.load(in)
		case Store:
			c.store(in)
		default:
			if ops[in.Op].kind == atomic {
				c.atomic(in)
			} else {
				c.compute(in)
			}
		}
	}
}

func (c *compiler) forLoop(in *Instr) {
	body := in.Blocks[0]
	c.share(in.Results, body.Params[1:])
	c.move(in, body.Params, append(in.Args[:1:1], in.Args[3:]...))
	i, hi, step := c.slot(body.Params[0]), c.slot(in.Args[1]), c.slot(in.Args[2])
	c.emit(in, func(t *thread) {
		if n := int32(t.regs[step]); n <= 0 {
			fail("the step is %d", n)
		}
	})
	head, inner, after := &code{}, &code{}, &code{}
	c.jump(in, head, to(head))
	c.jump(in, inner, func(t *thread) *code {
		if int32(t.regs[i]) < int32(t.regs[hi]) {
			return inner
		}
		return after
	})
	c.block(body)
	c.move(in, body.Params[1:], body.Yields)
	c.emit(in, func(t *thread) {
		n := int32(t.regs[i])
		next := n + int32(t.regs[step])
		if next < n {
			fail("the counter overflows after %d", n)
		}
		t.regs[i] = uint64(uint32(next))
	})
	c.jump(in, after, to(head))
}

func (c *compiler) branch(in *Instr) {
	cond := c.slot(in.Args[0])
	then, otherwise, after := &code{}, &code{}, &code{}
	c.jump(in, then, func(t *thread) *code {
		if t.regs[cond] != 0 {
			return then
		}
		return otherwise
	})
	c.block(in.Blocks[0])
	c.move(in, in.Results, in.Blocks[0].Yields)
	c.jump(in, otherwise, to(after))
	c.block(in.Blocks[1])
	c.move(in, in.Results, in.Blocks[1].Yields)
	c.jump(in, after, to(after))
}

func (c *compiler) whileLoop(in *Instr) {
	test, body := in.Blocks[0], in.Blocks[1]
	c.share(body.Params, test.Params)
	c.share(in.Results, test.Params)
	c.move(in, test.Params, in.Args)
	head, inner, after := &code{}, &code{}, &code{}
	c.jump(in, head, to(head))
	c.block(test)
	cond := c.slot(test.Yields[0])
	c.jump(in, inner, func(t *thread) *code {
		if t.regs[cond] != 0 {
			return inner
		}
		return after
	})
	c.block(body)
	c.move(in, test.Params, body.Yields)
	c.jump(in, after, to(head))
}

func (c *compiler) compute(in *Instr) {
	d := c.slot(in.Results[0])
	a := c.slotsOf(in.Args)
	typ := in.Results[0].Type.DType
	switch in.Op {
	case ThreadIdx:
		c.emit(in, func(t *thread) { t.regs[d] = uint64(t.index[in.Dim]) })
	case BlockIdx:
		c.emit(in, func(t *thread) { t.regs[d] = uint64(uint32(c.machine.block[in.Dim])) })
	case Split:
		high := c.slot(in.Results[1])
		c.emit(in, func(t *thread) {
			x := t.regs[a[0]]
			t.regs[d], t.regs[high] = x&math.MaxUint32, x>>32
		})
	case Select:
		c.emit(in, func(t *thread) {
			if t.regs[a[0]] != 0 {
				t.regs[d] = t.regs[a[1]]
			} else {
				t.regs[d] = t.regs[a[2]]
			}
		})
	case Join:
		c.emit(in, func(t *thread) { t.regs[d] = t.regs[a[0]] | t.regs[a[1]]<<16 })
	case Exp2:
		c.emit(in, func(t *thread) { t.regs[d] = exp2(t.regs[a[0]]) })
	case Greater:
		c.emit(in, func(t *thread) { t.regs[d] = greater(t.regs[a[0]], t.regs[a[1]]) })
	case Fma:
		f := fused(typ)
		c.emit(in, func(t *thread) { t.regs[d] = f(t.regs[a[0]], t.regs[a[1]], t.regs[a[2]]) })
	default:
		from := in.Args[0].Type.DType
		if len(a) == 1 {
			x, f := a[0], unaryFunc(in.Op, from, typ)
			c.emit(in, func(t *thread) { t.regs[d] = f(t.regs[x]) })
			return
		}
		x, y, f := a[0], a[1], binaryFunc(in.Op, from)
		c.emit(in, func(t *thread) { t.regs[d] = f(t.regs[x], t.regs[y]) })
	}
}

func (c *compiler) index(v *Value) func(t *thread) int64 {
	i := c.slot(v)
	if v.Type.DType == ir.I32 {
		return func(t *thread) int64 { return int64(int32(t.regs[i])) }
	}
	return func(t *thread) int64 { return int64(t.regs[i]) }
}

func (c *compiler) load(in *Instr) {
	a, index, to := c.arrays[in.Args[0]], c.index(in.Args[1]), c.slotsOf(in.Results)
	c.emit(in, func(t *thread) {
		i := a.locate(index(t), len(to))
		a.reads(c.machine, t, i, len(to))
		for j, d := range to {
			t.regs[d] = a.get(i + j)
		}
	})
}

func (c *compiler) store(in *Instr) {
	a, index, from := c.arrays[in.Args[0]], c.index(in.Args[1]), c.slotsOf(in.Args[2:])
	c.emit(in, func(t *thread) {
		i := a.locate(index(t), len(from))
		a.writes(c.machine, t, i, len(from))
		for j, s := range from {
			a.put(i+j, t.regs[s])
		}
	})
}

func (c *compiler) atomic(in *Instr) {
	a, index, x, d := c.arrays[in.Args[0]], c.index(in.Args[1]), c.slotsOf(in.Args[2:]), c.slot(in.Results[0])
	update := func(t *thread, before uint64) uint64 { return t.regs[x[0]] }
	switch in.Op {
	case AtomicXchg:
	case AtomicCAS:
		update = func(t *thread, before uint64) uint64 {
			if before == t.regs[x[0]] {
				return t.regs[x[1]]
			}
			return before
		}
	default:
		o := map[Op]Op{AtomicAdd: Add, AtomicMin: Min, AtomicMax: Max, AtomicAnd: And, AtomicOr: Or}[in.Op]
		f := binaryFunc(o, in.Results[0].Type.DType)
		update = func(t *thread, before uint64) uint64 { return f(before, t.regs[x[0]]) }
	}
	c.emit(in, func(t *thread) {
		i := a.locate(index(t), 1)
		a.updates(c.machine, t, i)
		before := a.get(i)
		a.put(i, update(t, before))
		t.regs[d] = before
	})
}
