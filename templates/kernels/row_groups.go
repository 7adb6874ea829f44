package kernels

import (
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// RowGroups are the elements of a row, in groups of adjacent elements that a thread computes together. A row is held
// if its length is known and not too long: each thread evaluates its elements once, and keeps them in registers.
type RowGroups struct {
	*Row
	// Lanes is the number of elements of a group.
	Lanes int
	held  []*Group // nil if the row is not held
}

// Group is a number of elements that a thread computes together.
type Group struct {
	Lanes []*Lane
	// inside is true if the group is in the row. It is nil if this is known to be true.
	inside *kernel.Value
}

// Lane is an element of a row.
type Lane struct {
	// Index is the index of the element in its row.
	Index *kernel.Value
	// Known holds what was computed for the element, by keys of the caller.
	Known map[any]*kernel.Value
}

const (
	// A thread holds at most heldFew elements, unless this would take more threads than a block may have. It never
	// holds more than heldMost.
	heldFew, heldMost = 16, 32
	// unheld is the number of elements that a thread loads at a time if the row is not held and Lanes is 1.
	unheld = 4
)

// RowsInGroups is [Rows] for rows whose elements are computed in groups of adjacent elements. `size` is the size of
// an element in bytes. A block has at most maxThreads threads; maxThreads must be a power of two and at least 32.
func RowsInGroups(name string, rows, length dim.Dim, size, maxThreads int, fill func(g *RowGroups)) (Launch, error) {
	lanes, threads, each := 1, min(Threads, maxThreads), 0
	if n, ok := length.Int(); ok {
		for lanes < maxLanes && lanes*size < 16 && n%(2*lanes) == 0 {
			lanes *= 2
		}
		groups := (n + lanes - 1) / lanes
		threads = 32
		for threads < maxThreads && threads*heldFew < n {
			threads *= 2
		}
		if each = (groups + threads - 1) / threads; each*lanes > heldMost {
			each = 0
		}
	}
	return Grid(name, []dim.Dim{rows}, []int{threads}, func(e *Emitter) func([]*kernel.Value) {
		r := &Row{Emitter: e, Length: e.Dim(length), shared: map[string][]*kernel.Value{}}
		return func(at []*kernel.Value) {
			r.Index = at[0]
			g := &RowGroups{Row: r, Lanes: lanes}
			if each > 0 {
				n, _ := length.Int()
				g.hold(n/lanes, each)
			}
			fill(g)
		}
	})
}

// hold makes the groups of elements that a thread holds. A thread has `each` groups; the row has `groups` groups.
func (g *RowGroups) hold(groups, each int) {
	threads := g.BlockSize(0)
	for k := range each {
		group := g.Add(g.Thread(0), g.Int(k*threads))
		made := &Group{}
		if (k+1)*threads > groups {
			made.inside = g.Lt(group, g.Int(groups))
			group = g.Min(group, g.Int(groups-1)) // another thread's, so that loads are inside
		}
		made.fill(g, g.Mul(group, g.Int(g.Lanes)), 1, g.Lanes)
		g.held = append(g.held, made)
	}
}

// fill adds n lanes to m, with the indices first, first+step, ….
func (m *Group) fill(g *RowGroups, first *kernel.Value, step, n int) {
	for k := range n {
		m.Lanes = append(m.Lanes, &Lane{g.Add(first, g.Int(k*step)), map[any]*kernel.Value{}})
	}
}

// Fold calls `add` for each group of elements that belongs to the thread, in order. The first call gets `state`, and
// each later call the result of the previous call. Fold returns the last result. `add` must not store.
func (g *RowGroups) Fold(state []*kernel.Value, add func(m *Group, state []*kernel.Value) []*kernel.Value) []*kernel.Value {
	if g.held == nil {
		return g.loop(state, add)
	}
	for _, m := range g.held {
		next := add(m, state)
		if m.inside != nil {
			for i := range next {
				next[i] = g.Select(m.inside, next[i], state[i])
			}
		}
		state = next
	}
	return state
}

// loop is [RowGroups.Fold] for a row that is not held. If Lanes is 1, `add` gets groups of `unheld` elements, which
// are not adjacent, and single elements at the end of the row.
func (g *RowGroups) loop(state []*kernel.Value, add func(m *Group, state []*kernel.Value) []*kernel.Value) []*kernel.Value {
	threads, first := g.BlockSize(0), g.Mul(g.Thread(0), g.Int(g.Lanes))
	one := func(i *kernel.Value, state []*kernel.Value) []*kernel.Value {
		m := &Group{}
		m.fill(g, i, 1, g.Lanes)
		return add(m, state)
	}
	if g.Lanes > 1 {
		return g.For(first, g.Length, g.Int(threads*g.Lanes), state, one)
	}
	step := threads * unheld
	whole := g.Div(g.Length, g.Int(step)) // steps in which all threads have all elements
	state = g.Times(whole, state, func(k *kernel.Value, state []*kernel.Value) []*kernel.Value {
		m := &Group{}
		m.fill(g, g.Add(g.Mul(k, g.Int(step)), first), threads, unheld)
		return add(m, state)
	})
	return g.For(g.Add(g.Mul(whole, g.Int(step)), first), g.Length, g.Int(threads), state, one)
}

// Each calls `compute` and then `store` for each group of elements that belongs to the thread. All stores of a group
// are emitted together, so that stores of adjacent elements become one access.
func (g *RowGroups) Each(compute, store func(m *Group)) {
	put := func(m *Group) { g.storesLast(func() { store(m) }) }
	if g.held == nil {
		g.loop(nil, func(m *Group, _ []*kernel.Value) []*kernel.Value {
			compute(m)
			put(m)
			return nil
		})
		return
	}
	for _, m := range g.held {
		compute(m)
	}
	for _, m := range g.held {
		if m.inside == nil {
			put(m)
		} else {
			g.Do(m.inside, func() { put(m) })
		}
	}
}

// JoinThreads combines the states of all threads of the block with `join`, and returns the result in every thread.
func (r *Row) JoinThreads(state []*kernel.Value, join func(e *Emitter, x, y []*kernel.Value) []*kernel.Value) []*kernel.Value {
	key := ""
	for _, v := range state {
		key += v.Type.String() + " "
	}
	if r.shared[key] == nil {
		for _, v := range state {
			r.shared[key] = append(r.shared[key], r.Builder.Shared("s", v.Type.DType, r.BlockSize(0)))
		}
	}
	return r.JoinBlock(r.shared[key], state, join)
}
