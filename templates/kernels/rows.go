package kernels

import (
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Row is a row that the threads of a block compute together in a kernel of [Rows].
type Row struct {
	*Emitter
	// Index counts the rows, and Length is the number of elements of each.
	Index, Length *kernel.Value
	shared        map[string][]*kernel.Value // by the types of a state
}

// Rows returns the [Launch] of a kernel that computes each of several rows of `length` elements
// with a block of threads. All threads of the block run `fill`.
func Rows(name string, rows, length dim.Dim, fill func(r *Row)) (Launch, error) {
	threads := Threads
	if n, ok := length.Int(); ok {
		for threads > 32 && threads/2 >= n {
			threads /= 2
		}
	}
	return Grid(name, []dim.Dim{rows}, []int{threads}, func(e *Emitter) func([]*kernel.Value) {
		r := &Row{Emitter: e, Length: e.Dim(length), shared: map[string][]*kernel.Value{}}
		return func(at []*kernel.Value) {
			r.Index = at[0]
			fill(r)
		}
	})
}

// Reduce reduces all elements of the row to a state, a list of values such as a sum, and returns
// the state in every thread. start is the state without elements. add returns the state after
// adding the element at index i. join combines two states.
func (r *Row) Reduce(start []*kernel.Value, add func(state []*kernel.Value, i *kernel.Value) []*kernel.Value, join func(x, y []*kernel.Value) []*kernel.Value) []*kernel.Value {
	state := r.For(r.Thread(0), r.Length, r.Int(r.BlockSize(0)), start, func(i *kernel.Value, state []*kernel.Value) []*kernel.Value {
		return add(state, i)
	})
	return r.JoinThreads(state, func(_ *Emitter, x, y []*kernel.Value) []*kernel.Value { return join(x, y) })
}

// Sum returns the sum of the results of `term` for all elements of the row, in every thread. zero
// is 0 in the type of the sum.
func (r *Row) Sum(zero *kernel.Value, term func(i *kernel.Value) *kernel.Value) *kernel.Value {
	plus := func(x, y []*kernel.Value) []*kernel.Value { return []*kernel.Value{r.Add(x[0], y[0])} }
	return r.Reduce([]*kernel.Value{zero}, func(s []*kernel.Value, i *kernel.Value) []*kernel.Value {
		return []*kernel.Value{r.Add(s[0], term(i))}
	}, plus)[0]
}

// Each distributes the elements of the row among the threads, and calls `do` to emit code that
// runs once for each element.
func (r *Row) Each(do func(i *kernel.Value)) {
	r.For(r.Thread(0), r.Length, r.Int(r.BlockSize(0)), nil, func(i *kernel.Value, _ []*kernel.Value) []*kernel.Value {
		do(i)
		return nil
	})
}
