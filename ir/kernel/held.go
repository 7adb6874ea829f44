package kernel

import (
	"github.com/burngen/burngen/ir"
)

// MultiplyHeld adds x·y to the sums of a group of 128 threads, or replaces the sums by x·y if keep is false. x is a
// matrix in the registers of these threads, and y is a tile in shared memory; see the operation [MultiplyHeld].
func (b *Builder) MultiplyHeld(sums *Value, x [4]*Value, y Tile, keep *Value) {
	args := append([]*Value{y.Array, y.First, sums, keep}, x[:]...)
	b.pipeline(&Instr{Op: MultiplyHeld, Args: args, AcrossB: y.Across})
}

// SetSum stores x as sum i of the sums that the thread holds; see the operation [SetSum].
func (b *Builder) SetSum(sums *Value, i int, x *Value) {
	b.pipeline(&Instr{Op: SetSum, Args: []*Value{sums, x}, Count: i})
}

func heldSignature(in *Instr) {
	counts(in, 8, 0, 0)
	y, s := in.Args[0], in.Args[2]
	if d := y.Type.DType; d != ir.F16 && d != ir.BF16 || y.Type.Space != Shared || s.Type.Space != Sums {
		fail("it multiplies by %s and adds to %s", y.Type, s.Type)
	}
	if in.AcrossB && s.Len%rowsOfTile != 0 {
		fail("%d columns, want a multiple of %d", s.Len, rowsOfTile)
	}
	typed(ir.I32, in.Args[1])
	typed(ir.Bool, in.Args[3])
	typed(ir.U32, in.Args[4:]...)
}

func heldSum(in *Instr) {
	if s := in.Args[0]; s.Type.Space != Sums || in.Count < 0 || in.Count >= s.Len/2 {
		fail("element %d of %s", in.Count, s)
	}
}

func (c *compiler) multiplyHeld(in *Instr) {
	b, s, m := c.arrays[in.Args[0]], in.Args[2], c.machine
	first, keep, held := c.index(in.Args[1]), c.slot(in.Args[3]), c.slotsOf(in.Args[4:])
	d := in.Args[0].Type.DType
	_, _, terms, _ := FactorsOfMatrix(d)
	number := widening(d)
	c.byGroup(in, func(threads []thread) {
		t := &threads[0]
		start, kept := int(first(t)), t.regs[keep] != 0
		x := make([]float64, rowsOfTile*terms)
		for i := range threads {
			u := &threads[i]
			if int(first(u)) != start || (u.regs[keep] != 0) != kept {
				fail("thread %s of the group has other operands", place(u.index))
			}
			for j, slot := range held {
				for half := range 2 {
					row, column := placeOfSum(i, 2*j+half)
					x[row*terms+column] = number(u.regs[slot] >> (16 * half) & 0xffff)
				}
			}
		}
		g, f := t.group(), m.flight(threads)
		places := m.readRight(b, in.AcrossB, terms, s.Len, start, threads)
		sums := m.pipeline.sumsOf(s, g, kept)
		f.products = append(f.products, product{f.begun, s, func() { addProduct(sums, x, b.numbers(places, number), s.Len, kept) }})
	})
}

func (c *compiler) setSum(in *Instr) {
	s, x, m := in.Args[0], c.slot(in.Args[1]), c.machine
	c.emit(in, func(t *thread) {
		if m.pipeline.flies(s, t.group()) {
			fail("the products are not done")
		}
		row, column := placeOfSum(int(t.number)%Group, in.Count)
		m.pipeline.sumsOf(s, t.group(), false)[row*s.Len+column] = decode[float32](t.regs[x])
	})
}
