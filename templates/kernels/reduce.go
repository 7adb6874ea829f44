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

// shortRow is the maximum length in elements of a row that one thread reduces alone. The threads of
// a block reduce a longer row together.
const shortRow = 64

// Reduce returns the [Launch] of a kernel that reduces rows. It combines the `length` elements of each row into a
// state, and stores it. The order in which elements are combined depends only on length.
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

// each reduces some elements of a row and returns the state. The elements are lo, lo+step, lo+2·step and so on, below
// hi.
func (e *Emitter) each(lo, hi, step, row *kernel.Value, r Reduction) []*kernel.Value {
	return e.For(lo, hi, step, r.Start(e), func(i *kernel.Value, state []*kernel.Value) []*kernel.Value {
		return r.Add(e, state, row, i)
	})
}

// room returns arrays in shared memory for the states of all threads of a block. There is an array for each value of
// a state.
func (e *Emitter) room(r Reduction) []*kernel.Value {
	var shared []*kernel.Value
	for _, v := range r.Start(e) {
		shared = append(shared, e.Shared("s", v.Type.DType, e.BlockSize(0)))
	}
	return shared
}

// JoinBlock combines the states of all threads of a block with `join`, and returns the result in every thread. The
// order depends only on the number of threads, which must be a power of two. shared has an array for each value of a
// state, with an element for each thread. The arrays may be used again afterwards.
func (e *Emitter) JoinBlock(shared, state []*kernel.Value, join func(e *Emitter, x, y []*kernel.Value) []*kernel.Value) []*kernel.Value {
	// Each thread joins several states at a time, so that there are few barriers. Large states are joined by few threads.
	each := 16
	if len(state) > 1 {
		each = 4
	}
	thread := e.Thread(0)
	put := func(state []*kernel.Value) {
		for i, v := range state {
			e.Store(shared[i], thread, v)
		}
		e.Barrier()
	}
	// joined joins the states of n threads: first, first + distance, first + 2·distance, and so on.
	joined := func(first *kernel.Value, distance, n int) []*kernel.Value {
		states := make([][]*kernel.Value, n)
		for k := range states {
			for _, s := range shared {
				states[k] = append(states[k], e.Load(s, e.Add(first, e.Int(k*distance))))
			}
		}
		for ; n > 1; n /= 2 {
			for k := range n / 2 {
				states[k] = join(e, states[2*k], states[2*k+1])
			}
		}
		return states[0]
	}
	put(state)
	n := e.BlockSize(0)
	for n > each {
		left := max(n/each, 1)
		if left > 1 && left < 4 {
			left = 4 // more threads, fewer states for each
		}
		taken := n / left
		e.Do(e.Lt(thread, e.Int(left)), func() {
			for i, v := range joined(thread, left, taken) {
				e.Store(shared[i], thread, v)
			}
		})
		e.Barrier()
		n = left
	}
	all := joined(e.Int(0), 1, n)
	e.Barrier()
	return all
}
