package ptx

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// branch writes an If. Both blocks move their results into the same registers.
func (w *writer) branch(in *kernel.Instr) {
	then, otherwise := in.Blocks[0], in.Blocks[1]
	cond := w.in(in.Args[0])
	results := make([]string, len(in.Results))
	for i, r := range in.Results {
		results[i] = w.define(r)
	}
	name := w.newLabel("if")
	if len(otherwise.Instrs) == 0 && len(results) == 0 {
		w.emit("@!"+cond+" bra", name+"_end")
		w.nested(func() { w.yield(then, results) })
	} else {
		w.emit("@!"+cond+" bra", name+"_else")
		w.nested(func() {
			w.yield(then, results)
			w.emit("bra", name+"_end")
		})
		w.label(name + "_else")
		w.nested(func() { w.yield(otherwise, results) })
	}
	w.label(name + "_end")
}

func (w *writer) yield(b *kernel.Block, to []string) {
	w.block(b)
	w.assign(to, b.Yields)
}

// while writes a While. Carried values have the same registers in both blocks and after the loop.
func (w *writer) while(in *kernel.Instr) {
	cond, body := in.Blocks[0], in.Blocks[1]
	registers := w.carry(cond.Params, in.Args)
	for i, r := range registers {
		w.alias(body.Params[i], operand{text: r})
		w.alias(in.Results[i], operand{text: r})
	}
	head := w.newLabel("while")
	w.label(head)
	w.nested(func() {
		w.block(cond)
		w.emit("@!"+w.in(cond.Yields[0])+" bra", head+"_end")
		w.yield(body, registers)
		w.emit("bra", head)
	})
	w.label(head + "_end")
}

// carry declares the registers of the carried values params, moves the initial values into them, and returns
// the registers.
func (w *writer) carry(params, first []*kernel.Value) []string {
	registers := make([]string, len(params))
	for i, p := range params {
		from := w.use(first[i]).text
		registers[i] = w.define(p)
		w.emit("mov"+registerType(p.Type.DType), registers[i], from)
	}
	return registers
}

type counter struct {
	in           *kernel.Instr
	index        *kernel.Value
	params       []*kernel.Value // carried
	lo, hi, step operand
	copies       int // of the body, after each other
}

func (w *writer) count(in *kernel.Instr) {
	body := in.Blocks[0]
	c := counter{in, body.Params[0], body.Params[1:], w.use(in.Args[0]), w.use(in.Args[1]), w.use(in.Args[2]), max(1, in.Unroll)}
	n, ok := c.iterations()
	switch {
	case ok && n <= int64(c.copies):
		carried := make([]operand, len(c.params))
		for i, v := range in.Args[3:] {
			carried[i] = w.use(v)
		}
		w.straight(c, int64(int32(c.lo.bits)), n, carried)
	case ok:
		w.countKnown(c, n)
	case c.copies > 1:
		w.countUnrolled(c)
	default:
		w.countSimply(c)
	}
}

func (c counter) iterations() (n int64, ok bool) {
	if !c.lo.known || !c.hi.known || !c.step.known {
		return 0, false
	}
	lo, hi, step := int64(int32(c.lo.bits)), int64(int32(c.hi.bits)), int64(int32(c.step.bits))
	if lo >= hi || step <= 0 {
		return 0, true
	}
	return (hi - lo + step - 1) / step, true
}

// straight writes n iterations of a loop, one after the other, without jumps. lo is the index of the first iteration.
// The results of the loop are the carried values after the last iteration.
func (w *writer) straight(c counter, lo, n int64, carried []operand) {
	step := int64(int32(c.step.bits))
	for k := range n {
		carried = w.copy(c, constant(ir.I32, uint64(uint32(lo+k*step))), carried)
	}
	for i, r := range c.in.Results {
		w.alias(r, carried[i])
	}
}

func (w *writer) copy(c counter, index operand, carried []operand) []operand {
	w.alias(c.index, index)
	for i, p := range c.params {
		w.alias(p, carried[i])
	}
	body := c.in.Blocks[0]
	w.scoped(func() { w.block(body) })
	yields := make([]operand, len(body.Yields))
	for i, v := range body.Yields {
		yields[i] = w.use(v)
	}
	return yields
}

func held(registers []string) []operand {
	values := make([]operand, len(registers))
	for i, r := range registers {
		values[i] = operand{text: r}
	}
	return values
}

// start declares the registers of the index and of the carried values. The registers of the carried values also hold
// the results of the loop.
func (w *writer) start(c counter) (index string, carried []string) {
	index = w.define(c.index)
	w.emit("mov.b32", index, c.lo.text)
	carried = w.carry(c.params, c.in.Args[3:])
	for i, r := range c.in.Results {
		w.alias(r, operand{text: carried[i]})
	}
	return index, carried
}

// turn writes several copies of the body of a loop, one after the other. It then moves the carried values of the last
// copy, and the next index, into the registers of the loop.
func (w *writer) turn(c counter, index string, carried []string, copies int) {
	values := held(carried)
	at := index
	for k := range copies {
		if k > 0 {
			next := w.register(".b32", c.index.Type.DType.String()+"_"+c.index.Name)
			w.emit("add.s32", next, at, c.step.text)
			at = next
		}
		values = w.copy(c, operand{text: at}, values)
	}
	w.move(carried, values, c.params)
	w.emit("add.s32", index, at, c.step.text)
}

// countSimply writes a loop with one copy of the body. If the kernel asks for one copy, countSimply also tells the
// driver not to unroll the loop.
func (w *writer) countSimply(c counter) {
	index, carried := w.start(c)
	p := w.temp(".pred")
	head := w.newLabel("for")
	w.emit("setp.ge.s32", p, index, c.hi.text)
	w.emit("@"+p+" bra", head+"_end")
	w.head(head, c.in.Unroll == 1)
	w.nested(func() {
		if c.step.known && c.step.bits == 1 {
			w.turn(c, index, carried, 1)
			w.emit("setp.lt.s32", p, index, c.hi.text)
		} else { // the next index may be too large for 32 bits
			left := w.temp(".b32")
			w.emit("sub.s32", left, c.hi.text, index)
			w.turn(c, index, carried, 1)
			w.emit("setp.gt.u32", p, left, c.step.text)
		}
		w.emit("@"+p+" bra", head)
	})
	w.label(head + "_end")
}

// countKnown writes n iterations as a loop over c.copies copies of the body. If n is not a multiple of c.copies, the
// remaining iterations follow the loop. If the index at the end of the loop exceeds 32 bits, it writes what
// countUnrolled writes.
func (w *writer) countKnown(c counter, n int64) {
	lo, step := int64(int32(c.lo.bits)), int64(int32(c.step.bits))
	looped := n - n%int64(c.copies)
	end := lo + looped*step
	if end > math.MaxInt32 {
		w.countUnrolled(c)
		return
	}
	index, carried := w.start(c)
	p := w.temp(".pred")
	head := w.newLabel("for")
	w.head(head, c.in.Unroll > 0)
	w.nested(func() {
		w.turn(c, index, carried, c.copies)
		w.emit("setp.lt.s32", p, index, fmt.Sprint(end))
		w.emit("@"+p+" bra", head)
	})
	w.straight(c, end, n-looped, held(carried))
}

// countUnrolled writes a loop over c.copies copies of the body, and a second loop over one copy for the remaining
// iterations. The number of iterations is computed first.
func (w *writer) countUnrolled(c counter) {
	index, carried := w.start(c)
	p, left := w.temp(".pred"), w.temp(".b32")
	head := w.newLabel("for")
	w.emit("setp.ge.s32", p, index, c.hi.text)
	w.emit("@"+p+" bra", head+"_end")
	w.emit("sub.s32", left, c.hi.text, index)
	if !c.step.known || c.step.bits != 1 {
		w.emit("sub.s32", left, left, "1")
		w.emit("div.u32", left, left, c.step.text)
		w.emit("add.s32", left, left, "1")
	}
	copies := fmt.Sprint(c.copies)
	w.emit("setp.lt.u32", p, left, copies)
	w.emit("@"+p+" bra", head+"_rest")
	w.head(head, true)
	w.nested(func() {
		w.turn(c, index, carried, c.copies)
		w.emit("sub.s32", left, left, copies)
		w.emit("setp.ge.u32", p, left, copies)
		w.emit("@"+p+" bra", head)
	})
	w.emit("setp.eq.s32", p, left, "0")
	w.emit("@"+p+" bra", head+"_end")
	w.head(head+"_rest", true)
	w.nested(func() {
		w.turn(c, index, carried, 1)
		w.emit("sub.s32", left, left, "1")
		w.emit("setp.ne.s32", p, left, "0")
		w.emit("@"+p+" bra", head+"_rest")
	})
	w.label(head + "_end")
}

func (w *writer) head(label string, fixed bool) {
	w.label(label)
	if fixed {
		w.line("\t" + `.pragma "nounroll";`)
	}
}

// assign moves values into registers, as if all at once.
func (w *writer) assign(to []string, from []*kernel.Value) {
	values := make([]operand, len(from))
	for i, v := range from {
		values[i] = w.use(v)
	}
	w.move(to, values, from)
}

type transfer struct{ to, from, typ string }

// move copies from[i] to register to[i] for all i as if at once: a register that is a source is not overwritten
// before it is read. types[i] is a value of the type of copy i.
func (w *writer) move(to []string, from []operand, types []*kernel.Value) {
	var pending []transfer
	for i, r := range to {
		if from[i].text != r {
			pending = append(pending, transfer{r, from[i].text, registerType(types[i].Type.DType)})
		}
	}
	for len(pending) > 0 {
		free := slices.IndexFunc(pending, func(t transfer) bool {
			return !slices.ContainsFunc(pending, func(u transfer) bool { return u.from == t.to })
		})
		if free >= 0 {
			t := pending[free]
			w.emit("mov"+t.typ, t.to, t.from)
			pending = slices.Delete(pending, free, free+1)
			continue
		}
		first := pending[0] // all of them wait for each other
		saved := w.temp(first.typ)
		w.emit("mov"+first.typ, saved, first.to)
		for i := range pending {
			if pending[i].from == first.to {
				pending[i].from = saved
			}
		}
	}
}
