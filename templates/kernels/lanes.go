package kernels

import "github.com/burngen/burngen/ir/kernel"

// vectorBytes is the size of the largest vector that a thread loads or stores at once.
const vectorBytes = 16

// lanes are adjacent elements that a thread computes, one after the other: lane i has the index first + i on one axis.
// While an emitter has lanes, [Tensor.Raw] loads vectors, and [Tensor.Set] collects elements that are stored as vectors.
type lanes struct {
	*Emitter
	first *kernel.Value // a multiple of count
	count int
	block *kernel.Block // in which the lanes are computed
	lane  int
	loads [][]*kernel.Value // of lane 0: the elements of all lanes, or nil if each lane loads its own
	next  int               // number of loads of the current lane
	paths map[*kernel.Value]path
	// stores are the elements that all lanes store, in their order.
	stores []element
}

// element is a store of x at an index of a tensor. The store has not been emitted.
type element struct {
	tensor   *Tensor
	index, x *kernel.Value
}

// vectors calls store for count adjacent elements on the last axis, whose indices on it are first, first+1, …. first is
// a multiple of count. Each call must set one element of the same tensor. The row-major index of the first one must be
// a multiple of count. All calls must make the same loads in the same order, with indices that differ only by i.
// vectors loads and stores adjacent elements together.
func (e *Emitter) vectors(first *kernel.Value, count int, store func(lane int, i *kernel.Value)) {
	l := &lanes{Emitter: e, first: first, count: count, block: e.Current(), paths: map[*kernel.Value]path{}}
	e.lanes = l
	for l.lane = range count {
		l.next = 0
		store(l.lane, e.Add(first, e.Int(l.lane)))
	}
	e.lanes = nil
	to := l.stores[0].tensor
	for width, i := l.width(to), 0; i < count; i += width {
		var values []*kernel.Value
		for _, s := range l.stores[i : i+width] {
			values = append(values, s.x)
		}
		e.Store(to.pointer, l.stores[i].index, values...)
	}
}

// width returns the number of elements of t in a vector.
func (l *lanes) width(t *Tensor) int { return min(l.count, vectorBytes/Memory(t.DType).Size()) }

// load returns the element of t with index i for the current lane.
func (l *lanes) load(t *Tensor, i *kernel.Value) *kernel.Value {
	if l.Current() != l.block {
		return l.Load(t.pointer, i) // a vector would be loaded in a block that later lanes do not enter
	}
	if l.lane == 0 {
		var all []*kernel.Value
		switch p := l.path(i); {
		case p.known && p.step == 0:
			x := l.Load(t.pointer, i)
			for range l.count {
				all = append(all, x)
			}
		case p.known && p.step == 1 && p.aligned:
			width := l.width(t)
			for first := 0; first < l.count; first += width {
				all = append(all, l.LoadN(t.pointer, l.Add(i, l.Int(first)), width)...)
			}
		}
		l.loads = append(l.loads, all)
	}
	all := l.loads[l.next]
	l.next++
	if all == nil {
		return l.Load(t.pointer, i)
	}
	return all[l.lane]
}

// path says how an index changes from lane to lane, if that is known.
type path struct {
	step    int64 // from one lane to the next
	aligned bool  // the index of lane 0 is a multiple of the number of lanes
	known   bool
}

// path returns how v, a value of lane 0, changes from lane to lane. It knows sums, differences, and values that are the
// same in all lanes.
func (l *lanes) path(v *kernel.Value) path {
	if v == l.first {
		return path{1, true, true}
	}
	if bits, ok := v.Const(); ok {
		return path{0, bits%uint64(l.count) == 0, true}
	}
	if v.Def == nil {
		return path{0, false, true}
	}
	if p, ok := l.paths[v]; ok {
		return p
	}
	var p path
	args := make([]path, len(v.Def.Args))
	fixed := len(v.Def.Blocks) == 0
	for i, a := range v.Def.Args {
		args[i] = l.path(a)
		fixed = fixed && args[i].known && args[i].step == 0
	}
	switch o := v.Def.Op; {
	case (o == kernel.Add || o == kernel.Sub) && args[0].known && args[1].known:
		p = path{args[0].step + args[1].step, args[0].aligned && args[1].aligned, true}
		if o == kernel.Sub {
			p.step = args[0].step - args[1].step
		}
	case o == kernel.Mul && fixed:
		p = path{0, args[0].aligned || args[1].aligned, true}
	case fixed:
		p = path{0, false, true}
	}
	l.paths[v] = p
	return p
}
