package kernels

import (
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Reduction describes what [Reduce] computes. A state is a list of values, such as a sum.
type Reduction struct {
	// Start returns the state of no elements.
	Start func(e *Emitter) []*kernel.Value
	// Add returns the state after another element. row is the index of the row, and i the index of
	// the element in the row.
	Add func(e *Emitter, state []*kernel.Value, row, i *kernel.Value) []*kernel.Value
	// Join returns the state of the elements of two states. The elements of x come first.
	Join func(e *Emitter, x, y []*kernel.Value) []*kernel.Value
	// Store stores the result of a row. state is the state of all its elements.
	Store func(e *Emitter, row *kernel.Value, state []*kernel.Value)
}

// shortRow is the maximum length in elements of a row that one thread reduces alone.
const shortRow = 64

// Reduce returns the launch of a kernel that reduces each of several rows of length elements to a
// state, and stores it. The order in which elements are joined depends only on length.
func Reduce(name string, rows, length dim.Dim, r Reduction) (Launch, error) {
	if n, ok := length.Int(); ok && n <= shortRow {
		return Map(name, []dim.Dim{rows}, func(e *Emitter, _ []*kernel.Value, row *kernel.Value) {
			r.Store(e, row, e.each(e.Int(0), e.Dim(length), e.Int(1), row, r))
		})
	}
	return Grid(name, []dim.Dim{rows}, []int{Threads}, func(e *Emitter) func([]*kernel.Value) {
		shared := e.room(r)
		return func(at []*kernel.Value) {
			state := e.JoinBlock(shared, e.each(e.Thread(0), e.Dim(length), e.Int(Threads), at[0], r), r.Join)
			e.Do(e.Eq(e.Thread(0), e.Int(0)), func() { r.Store(e, at[0], state) })
		}
	})
}

// each reduces the elements lo, lo+step, … below hi of a row, and returns the state.
func (e *Emitter) each(lo, hi, step, row *kernel.Value, r Reduction) []*kernel.Value {
	return e.For(lo, hi, step, r.Start(e), func(i *kernel.Value, state []*kernel.Value) []*kernel.Value {
		return r.Add(e, state, row, i)
	})
}

// room returns the arrays in shared memory for the states of all threads of a block: one array for
// each value of a state.
func (e *Emitter) room(r Reduction) []*kernel.Value {
	var shared []*kernel.Value
	for _, v := range r.Start(e) {
		shared = append(shared, e.Shared("s", v.Type.DType, e.BlockSize(0)))
	}
	return shared
}

// JoinBlock joins the states of all threads of a block in the order of the threads. It returns the
// result in every thread. The number of threads is a power of two. shared has room for a state of
// each thread, and may be reused afterwards.
func (e *Emitter) JoinBlock(shared, state []*kernel.Value, join func(e *Emitter, x, y []*kernel.Value) []*kernel.Value) []*kernel.Value {
	thread := e.Thread(0)
	put := func(state []*kernel.Value) {
		for i, v := range state {
			e.Store(shared[i], thread, v)
		}
	}
	get := func(at *kernel.Value) []*kernel.Value {
		out := make([]*kernel.Value, len(shared))
		for i, s := range shared {
			out[i] = e.Load(s, at)
		}
		return out
	}
	put(state)
	e.Barrier()
	for distance := 1; distance < e.BlockSize(0); distance *= 2 {
		first := e.Eq(e.And(thread, e.Int(2*distance-1)), e.Int(0))
		e.Do(first, func() { put(join(e, get(thread), get(e.Add(thread, e.Int(distance))))) })
		e.Barrier()
	}
	all := get(e.Int(0))
	e.Barrier()
	return all
}
