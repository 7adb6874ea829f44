package kernel

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// pipelineState is a part of the state of the interpreter: the phase barriers, sums, copies and products of the
// block that it runs.
type pipelineState struct {
	phases  map[*Value][]phase
	sums    map[*Value][][]float32 // by group: [rowsOfTile · columns]
	boxed   map[*array]*boxed
	copies  []*boxCopy        // not carried out yet
	flights map[int]*inFlight // by group
}

// phase is the state of a phase barrier.
type phase struct {
	number         int   // number of complete phases
	arrived, bytes int   // arrivals, and copied less announced bytes, of the current phase
	known          []int // lower bounds of thread.seen in threads that have waited for the last complete phase
	next           []int // known after the current phase
}

// boxed records accesses to an array that boxes are copied to. It has an entry for each element of the array.
type boxed struct {
	from []*boxCopy // the copy that wrote an element, or nil
	read [][]int    // by group of threads: for each element, the number of the group of products that read it last
}

// boxCopy is a copy of a box that a thread has started.
type boxCopy struct {
	do     func()
	at     *phase
	number int // number of complete phases when it was started
	done   bool
}

// inFlight holds the products that a group of threads has started and that are not done. [Commit] collects the
// products since the last Commit into one set, which [Drain] waits for as a whole. The code calls such a set a
// group of products.
type inFlight struct {
	begun, done int // how many groups of products Commit has closed, and how many of these are done
	products    []product
}

// product is a product that is not done. `group` is the index, from 0, of the group of products that it belongs to; see
// [inFlight].
type product struct {
	group int
	sums  *Value
	do    func()
}

// begin resets the state at the start of a block.
func (p *pipelineState) begin(m *machine) {
	groups := (len(m.threads) + Group - 1) / Group
	*p = pipelineState{phases: map[*Value][]phase{}, sums: map[*Value][][]float32{}, boxed: map[*array]*boxed{}, flights: map[int]*inFlight{}}
	for _, v := range m.kernel.Shared {
		if v.Type.Space != Phases {
			continue
		}
		p.phases[v] = make([]phase, v.Len)
		for i := range p.phases[v] {
			p.phases[v][i].known, p.phases[v][i].next = make([]int, groups), make([]int, groups)
		}
	}
	for _, s := range m.kernel.Sums {
		p.sums[s] = make([][]float32, groups)
	}
	for i := range m.threads {
		m.threads[i].seen, m.threads[i].phases = make([]int, groups), map[*phase]int{}
	}
	for g := range groups {
		p.flights[g] = &inFlight{}
	}
}

func (p *pipelineState) box(a *array) *boxed {
	b := p.boxed[a]
	if b == nil {
		b = &boxed{from: make([]*boxCopy, a.n), read: make([][]int, len(p.flights))}
		for g := range b.read {
			b.read[g] = make([]int, a.n)
		}
		p.boxed[a] = b
	}
	return b
}

// proceed lets waiting threads continue. Threads continue if their phase is complete. The threads of a group
// continue if all of them wait at the same instruction of [compiler.byGroup]; proceed executes this instruction. If
// no thread can continue, proceed carries out one copy. It returns false if there is no copy either.
func (p *pipelineState) proceed(m *machine) bool {
	released := false
	for first := 0; first < len(m.threads); first += Group {
		group := m.threads[first:min(first+Group, len(m.threads))]
		at := group[0].waiting
		do := m.groups[at]
		if do == nil || slices.ContainsFunc(group, func(t thread) bool { return t.waiting != at }) {
			continue
		}
		m.thread = &group[0]
		do(group)
		m.thread = nil
		for i := range group {
			group[i].held = false
		}
		released = true
	}
	for i := range m.threads {
		if t := &m.threads[i]; t.ready != nil && t.ready() {
			t.ready, t.held, released = nil, false, true
		}
	}
	if released || len(p.copies) == 0 {
		return released
	}
	i := m.random.IntN(len(p.copies))
	c := p.copies[i]
	p.copies = slices.Delete(p.copies, i, i+1)
	c.do()
	return true
}

// complete begins the next phase if the current phase has all its arrivals, and all bytes that the arrivals
// announced.
func (f *phase) complete(arrivals int) {
	if f.arrived == arrivals && f.bytes == 0 {
		copy(f.known, f.next)
		f.number++
		f.arrived = 0
	}
}

func learn(known, from []int) {
	for i, n := range from {
		known[i] = max(known[i], n)
	}
}

func (c *compiler) pipeline(in *Instr) {
	m := c.machine
	switch in.Op {
	case Arrive:
		at, bytes := c.phase(in.Args[0], in.Args[1]), -1
		if len(in.Args) > 2 {
			bytes = c.slot(in.Args[2])
		}
		c.emit(in, func(t *thread) {
			f := at(t)
			if bytes >= 0 {
				f.bytes -= int(int32(t.regs[bytes]))
			}
			f.arrived++
			learn(f.next, t.seen)
			f.complete(in.Args[0].Arrivals)
		})
	case Await:
		at, n := c.phase(in.Args[0], in.Args[1]), c.slot(in.Args[2])
		next := &code{}
		c.jump(in, next, func(t *thread) *code {
			f, parity := at(t), int(t.regs[n])
			if parity != 0 && parity != 1 {
				fail("phase %d", int32(parity))
			}
			t.waiting = in
			t.ready = func() bool {
				if f.number%2 == parity {
					return false
				}
				learn(t.seen, f.known)
				t.see(f)
				return true
			}
			return next
		})
	case GroupBarrier:
		c.byGroup(in, func(threads []thread) { m.epochs[threads[0].group()] = m.newEpoch() })
	case CopyBox:
		c.copyBox(in)
	case MultiplyTiles:
		c.multiplyTiles(in)
	case MultiplyHeld:
		c.multiplyHeld(in)
	case SetSum:
		c.setSum(in)
	case Commit:
		c.byGroup(in, func(threads []thread) { m.flight(threads).begun++ })
	case Drain:
		c.byGroup(in, func(threads []thread) {
			f, g := m.flight(threads), threads[0].group()
			for f.begun-f.done > in.Count {
				for len(f.products) > 0 && f.products[0].group == f.done {
					f.products[0].do()
					f.products = f.products[1:]
				}
				f.done++
			}
			for i := range threads {
				threads[i].seen[g] = f.done
			}
		})
	case Sum:
		d := c.slot(in.Results[0])
		c.emit(in, func(t *thread) {
			s := in.Args[0]
			sums := m.pipeline.sums[s][t.group()]
			if sums == nil || m.pipeline.flies(s, t.group()) {
				fail("the products are not done")
			}
			row, column := placeOfSum(int(t.number)%Group, in.Count)
			t.regs[d] = encode(sums[row*s.Len+column])
		})
	}
}

func (m *machine) flight(threads []thread) *inFlight { return m.pipeline.flights[threads[0].group()] }

// placeOfSum returns the row and the column of sum i that a thread holds. thread is the index of the thread in its
// group.
func placeOfSum(thread, i int) (row, column int) {
	return thread/Warp*16 + thread%Warp/4 + i/2%2*8, i/4*8 + thread%4*2 + i%2
}

func (c *compiler) phase(v, i *Value) func(t *thread) *phase {
	index := c.index(i)
	return func(t *thread) *phase {
		n := index(t)
		if n < 0 || n >= int64(v.Len) {
			fail("phase barrier %d of %d", n, v.Len)
		}
		return &c.machine.pipeline.phases[v][n]
	}
}

// byGroup emits code for instruction `in`: each thread waits until all threads of its group have reached it. The
// machine then calls `do` with these threads.
func (c *compiler) byGroup(in *Instr, do func(threads []thread)) {
	next := &code{}
	c.jump(in, next, func(t *thread) *code { t.waiting = in; return next })
	if c.machine.groups == nil {
		c.machine.groups = map[*Instr]func([]thread){}
	}
	c.machine.groups[in] = do
}

func (c *compiler) copyBox(in *Instr) {
	to, from, m := c.arrays[in.Args[0]], c.arrays[in.Args[2]], in.Args[2].Map
	index, at, machine := c.index(in.Args[1]), c.phase(in.Args[3], in.Args[4]), c.machine
	arrivals, first := in.Args[3].Arrivals, c.slotsOf(in.Args[5:])
	n := m.Elems()
	perRow := m.Box[len(m.Box)-1]
	c.emit(in, func(t *thread) {
		start := int(index(t))
		if start < 0 || start+n > to.n || start*to.size%swizzled != 0 {
			fail("a box at element %d of %d", start, to.n)
		}
		f, box := at(t), machine.pipeline.box(to)
		copied := &boxCopy{at: f, number: f.number}
		for e := start; e < start+n; e++ {
			if last := box.from[e]; last != nil && !last.done {
				fail("a race: an earlier copy may write element %d", e)
			}
			for g, read := range box.read {
				if read[e] > t.seen[g] {
					fail("a race: a product of group %d may read element %d", g, e)
				}
			}
			box.from[e] = copied
		}
		place := make([]int, len(first))
		for k, slot := range first {
			place[k] = int(int32(t.regs[slot]))
		}
		sources := m.sources(place, from.n)
		for _, source := range sources {
			if source >= 0 {
				from.reads(machine, t, source, 1)
			}
		}
		copied.do = func() {
			copied.done = true
			for e, source := range sources {
				bits := uint64(0)
				if source >= 0 {
					bits = from.get(source)
					if from.dtype == ir.F32 {
						bits = roundTF32(bits)
					}
				}
				row, column := e/perRow, e%perRow
				to.put(swizzle(start+row*perRow+column, to.size), bits)
			}
			f.bytes += n * to.size
			f.complete(arrivals)
		}
		machine.pipeline.copies = append(machine.pipeline.copies, copied)
	})
}

// roundTF32 rounds an f32 to 11 significant bits, ties away from 0. It returns infinities and NaN unchanged. The
// argument and the result are bits.
func roundTF32(bits uint64) uint64 {
	const half, kept, exponent = 1 << 12, 0xffffe000, 0x7f800000
	if bits&exponent == exponent {
		return bits
	}
	return (bits + half) & kept
}

// swizzle returns the index at which element i of an array is stored if boxes are copied to the array. An element
// has `size` bytes.
func swizzle(i, size int) int {
	at := i * size
	return (at ^ at/rowBytes%8*16) / size
}

// see records that the thread has waited for all phases of barrier f that are complete now.
func (t *thread) see(f *phase) {
	t.phases[f] = f.number
}

func (c *compiler) multiplyTiles(in *Instr) {
	d, s := in.Args[0].Type.DType, in.Args[4]
	a, b, m := c.arrays[in.Args[0]], c.arrays[in.Args[2]], c.machine
	firstA, firstB, keep := c.index(in.Args[1]), c.index(in.Args[3]), c.slot(in.Args[5])
	_, _, terms, _ := FactorsOfMatrix(d)
	row := rowBytes / a.size
	number := widening(d)
	if d == ir.F32 {
		number = func(bits uint64) float64 { return float64(decode[float32](bits &^ 0x1fff)) }
	}
	c.byGroup(in, func(threads []thread) {
		t := &threads[0]
		startA, startB, kept := int(firstA(t)), int(firstB(t)), t.regs[keep] != 0
		for i := range threads {
			if u := &threads[i]; int(firstA(u)) != startA || int(firstB(u)) != startB || (u.regs[keep] != 0) != kept {
				fail("thread %s of the group has other operands", place(u.index))
			}
		}
		g, f := t.group(), m.flight(threads)
		placesA := make([]int, rowsOfTile*terms)
		for i := range placesA {
			r, k := i/terms, i%terms
			placesA[i] = startA + r*row + k
			if in.AcrossA {
				placesA[i] = startA + k*row + r
			}
		}
		m.readTile(a, placesA, threads, startA)
		placesB := m.readRight(b, in.AcrossB, terms, s.Len, startB, threads)
		sums := m.pipeline.sumsOf(s, g, kept)
		f.products = append(f.products, product{f.begun, s, func() {
			addProduct(sums, a.numbers(placesA, number), b.numbers(placesB, number), s.Len, kept)
		}})
	})
}

// readRight returns where the array b has the elements of a product's right matrix, [terms, columns]. For each element
// of the matrix, in row-major order, it returns the index in b before [swizzle]. The matrix begins at element `start`
// of b. across is AcrossB of [MultiplyTiles]. readRight also records that the product of these threads reads the
// elements.
func (m *machine) readRight(b *array, across bool, terms, columns, start int, threads []thread) []int {
	places, row := make([]int, terms*columns), rowBytes/b.size
	for i := range places {
		k, n := i/columns, i%columns
		places[i] = start + n*row + k
		if across {
			places[i] = start + (n/rowsOfTile*rowsOfTile+k)*row + n%rowsOfTile
		}
	}
	m.readTile(b, places, threads, start)
	return places
}

// numbers returns the elements of a at the indices `places`, converted by `number`. a must be an array that boxes
// are copied to.
func (a *array) numbers(places []int, number func(bits uint64) float64) []float64 {
	x := make([]float64, len(places))
	for i, at := range places {
		x[i] = number(a.get(swizzle(at, a.size)))
	}
	return x
}

// sumsOf returns the sums s of group g. If the group has no sums s yet, sumsOf makes them, unless needed is true:
// then it panics as [fail] does.
func (p *pipelineState) sumsOf(s *Value, g int, needed bool) []float32 {
	if p.sums[s][g] == nil {
		if needed {
			fail("there are no sums to add to")
		}
		p.sums[s][g] = make([]float32, rowsOfTile*s.Len)
	}
	return p.sums[s][g]
}

// flies reports whether group g has started a product into the sums s, and this product is not done.
func (p *pipelineState) flies(s *Value, g int) bool {
	return slices.ContainsFunc(p.flights[g].products, func(p product) bool { return p.sums == s })
}

// addProduct adds the matrix product x·y to sums, or replaces sums by x·y if kept is false. sums and y have
// `columns` columns, and all three are in row-major order. The terms of a sum are added in order.
func addProduct(sums []float32, x, y []float64, columns int, kept bool) {
	terms := len(y) / columns
	for i := range sums {
		r, n := i/columns, i%columns
		var sum float32
		if kept {
			sum = sums[i]
		}
		for k := range terms {
			sum = float32(float64(sum) + x[r*terms+k]*y[k*columns+n])
		}
		sums[i] = sum
	}
}

// readTile records that a product of the threads' group reads elements of the array a. places are the indices of
// the elements, and start is the first element of the tile. readTile panics, as [fail] does, if an element is out
// of bounds, or if a thread has not waited for the copy that writes it.
func (m *machine) readTile(a *array, places []int, threads []thread, start int) {
	if start*a.size%16 != 0 {
		fail("a tile at element %d", start)
	}
	box, g := m.pipeline.box(a), threads[0].group()
	var known *boxCopy // whose phase all threads have waited for
	for _, i := range places {
		if i < 0 || i >= a.n {
			fail("element %d of %d", i, a.n)
		}
		from := box.from[i]
		switch {
		case from == nil:
			fail("element %d was not written", i)
		case from != known:
			for k := range threads {
				if t := &threads[k]; t.phases[from.at] <= from.number {
					fail("thread %s has not waited for the copy of element %d", place(t.index), i)
				}
			}
			known = from
		}
		box.read[g][i] = m.pipeline.flights[g].begun + 1
	}
}
