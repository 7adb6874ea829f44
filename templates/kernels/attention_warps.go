package kernels

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Attended describes an attention like [Attention]. Its extents may be known only at run time, and its elements may
// be anywhere in memory.
type Attended struct {
	Batch, Heads, Queries, Keys dim.Dim
	// Shared is the number of heads of queries for each head of keys and values.
	Shared dim.Dim
	// Depth is the number of elements of a query and of a key: a multiple of 16 up to 128. Width is the number of
	// elements of a value: a multiple of 8 up to 128.
	Depth, Width int
	// Matrix is the type of the queries, keys and values, f16 or bf16. Weights are rounded to it.
	Matrix ir.DType
	// Query, Key and Value return elements `element` … element+n−1 of the query, key or value that `at` names. n is 2
	// or 8, and divides element.
	Query, Key, Value func(e *Emitter, at Attending, element *kernel.Value, n int) []*kernel.Value
	Scale             float64
	// Past, Before, After, Score, Sink and Store are as in [Attention].
	Past          dim.Dim
	Before, After int
	Score         func(e *Emitter, at Attending, score *kernel.Value) *kernel.Value
	Sink          func(e *Emitter, at Attending) *kernel.Value
	Store         func(e *Emitter, at Attending, column, x *kernel.Value)
}

// These are the sizes of [WarpAttention]. A warp has 16 queries of the block's tile.
const (
	warpsOfBlock   = 4
	queriesOfBlock = warpsOfBlock * matrixM
	keysOfBlock    = 64 // that a block multiplies at a time
	elementsAtOnce = 8  // of a key or value, that a thread loads at a time: 16 bytes
)

// WarpAttention returns the [Launch] of a kernel that computes an attention. Warps compute the products, see
// [kernel.MatMulAdd]. A block goes through the keys tile by tile. For each of its queries, it keeps the greatest
// score, the sum of the weights and the sum of weighted values in registers.
func WarpAttention(name string, a Attended) (Launch, error) {
	tiles := a.Queries.CeilDiv(dim.Const(queriesOfBlock))
	return Grid(name, []dim.Dim{tiles, a.Heads, a.Batch}, []int{warpsOfBlock * kernel.Warp}, func(e *Emitter) func([]*kernel.Value) {
		w := &warpAttention{Emitter: e, Attended: a}
		w.keys = e.Shared("keys", a.Matrix, keysOfBlock*(a.Depth+gap))
		w.values = e.Shared("values", a.Matrix, a.Width*(keysOfBlock+gap))
		w.thread = e.Thread(0)
		return func(at []*kernel.Value) {
			head := Attending{Batch: at[2], Head: at[1], Group: e.Div(at[1], e.Dim(a.Shared))}
			w.attend(head, e.Mul(at[0], e.Int(queriesOfBlock)))
			e.Barrier()
		}
	})
}

// gap is the number of unused elements after each row in shared memory. With the gap, the threads of a warp access
// different banks.
const gap = 8

// warpAttention is the state of [WarpAttention] while it builds a kernel.
type warpAttention struct {
	*Emitter
	Attended
	keys   *kernel.Value // a tile of keys: rows of Depth elements
	values *kernel.Value // a tile of values, transposed: a row has an element of all values
	thread *kernel.Value
}

// attend computes the results that a block has of a head: the results of a tile of queries. m is the first query.
func (w *warpAttention) attend(head Attending, m *kernel.Value) {
	warp, lane := w.Div(w.thread, w.Int(kernel.Warp)), w.Rem(w.thread, w.Int(kernel.Warp))
	keys, queries, past := w.Dim(w.Keys), w.Dim(w.Queries), w.Dim(w.Past)
	s := &softmax{
		Emitter: w.Emitter, Attending: head, queries: queries, keys: keys, past: past,
		before: w.Before, after: w.After, scale: w.Scale, excludes: true, change: w.Score,
	}
	s.place(m, warp, lane)
	q := w.queryMatrices(s)

	state := s.start(w.Sink).list()
	for range w.Width / 2 {
		state = append(state, w.Float(ir.F32, 0))
	}
	first, end := w.Int(0), keys
	if w.After >= 0 {
		end = w.Min(end, w.Add(w.Add(m, past), w.Int(queriesOfBlock+w.After)))
	}
	if w.Before >= 0 {
		first = w.Max(w.Sub(w.Add(m, past), w.Int(w.Before)), first)
		first = w.Mul(w.Div(first, w.Int(keysOfBlock)), w.Int(keysOfBlock))
	}
	state = w.For(first, end, w.Int(keysOfBlock), state, func(first *kernel.Value, state []*kernel.Value) []*kernel.Value {
		w.load(head, first, keys)
		w.Barrier()
		scores := w.scores(q, lane)
		r, weights, factors := s.weigh(runningOf(state[:4]), scores, first, true)
		sums := state[4:]
		for i := range sums {
			sums[i] = w.Mul(sums[i], factors[i/2%2])
		}
		w.addValues(sums, weights, lane)
		w.Barrier()
		return append(r.list(), sums...)
	})
	for h, share := range s.shares(runningOf(state[:4])) {
		at := head
		at.Query = s.rows[h]
		w.Do(w.Lt(at.Query, queries), func() {
			for i := 2 * h; i < w.Width/2; i += 4 {
				for c := range 2 {
					w.Attended.Store(w.Emitter, at, w.Add(s.pair, w.Int(i/4*8+c)), w.Mul(state[4+i+c], share))
				}
			}
		})
	}
}

// queryMatrices returns the thread's elements of its warp's queries, as first factors of matrix products. Each
// product of 16 terms takes 8 of these elements.
func (w *warpAttention) queryMatrices(s *softmax) []*kernel.Value {
	elements := make([]*kernel.Value, w.Depth/2)
	for h, row := range s.rows {
		at := s.Attending
		at.Query = row
		loaded := w.inside(w.Lt(row, s.queries), w.Depth/4, func() (list []*kernel.Value) {
			for k := 0; k < w.Depth; k += 8 {
				list = append(list, w.Query(w.Emitter, at, w.Add(s.pair, w.Int(k)), 2)...)
			}
			return list
		})
		for i, x := range loaded {
			elements[i/2*4+2*h+i%2] = x
		}
	}
	return elements
}

// inside returns the n elements that load returns if cond is true, and n zeros otherwise.
func (w *warpAttention) inside(cond *kernel.Value, n int, load func() []*kernel.Value) []*kernel.Value {
	return w.If(cond, load, func() []*kernel.Value {
		return slices.Repeat([]*kernel.Value{w.Convert(w.Matrix, w.Float(ir.F32, 0))}, n)
	})
}

// load copies a tile of keys and values to shared memory. `first` is the first key of the tile. Rows after the last
// key become 0.
//
// A chunk is 8 adjacent elements of a key or a value. Neighbouring threads load neighbouring chunks of a key, which
// are adjacent in memory. For values it is the other way round: neighbouring threads load the same chunk of
// neighbouring values. Values are stored transposed in shared memory, so that these threads store adjacent elements and
// access different banks. `keys` is the number of keys.
func (w *warpAttention) load(head Attending, first, keys *kernel.Value) {
	w.loadParts(head, first, keys, w.Depth, w.Key, func(i *kernel.Value) (row, part *kernel.Value) {
		parts := w.Int(w.Depth / elementsAtOnce)
		return w.Div(i, parts), w.Rem(i, parts)
	}, func(row, column *kernel.Value, x []*kernel.Value) {
		w.Builder.Store(w.keys, w.Add(w.Mul(row, w.Int(w.Depth+gap)), column), x...)
	})
	w.loadParts(head, first, keys, w.Width, w.Value, func(i *kernel.Value) (row, part *kernel.Value) {
		return w.Rem(i, w.Int(keysOfBlock)), w.Div(i, w.Int(keysOfBlock))
	}, func(row, column *kernel.Value, x []*kernel.Value) {
		for c, v := range x {
			w.Builder.Store(w.values, w.Add(w.Mul(w.Add(column, w.Int(c)), w.Int(keysOfBlock+gap)), row), v)
		}
	})
}

// loadParts loads a tile of rows of `width` elements, in parts of 8 adjacent elements, and calls `put` with each
// part. The parts of the tile are numbered; `place` returns the row of part i and the index of the part in this row.
// `from` returns n elements of the key or value at.Key, from the given element on. put gets the row of a part, the
// column of its first element, and the elements x. They are 0 in rows after the last key: `first` is the key in row
// 0, and keys is the number of keys.
func (w *warpAttention) loadParts(head Attending, first, keys *kernel.Value, width int, from func(e *Emitter, at Attending, element *kernel.Value, n int) []*kernel.Value,
	place func(i *kernel.Value) (row, part *kernel.Value), put func(row, column *kernel.Value, x []*kernel.Value)) {
	const threads = warpsOfBlock * kernel.Warp
	parts := keysOfBlock * width / elementsAtOnce
	w.ForUnrolled((parts+threads-1)/threads, w.thread, w.Int(parts), w.Int(threads), nil, func(i *kernel.Value, _ []*kernel.Value) []*kernel.Value {
		row, part := place(i)
		column := w.Mul(part, w.Int(elementsAtOnce))
		at := head
		at.Key = w.Add(first, row)
		put(row, column, w.inside(w.Lt(at.Key, keys), elementsAtOnce, func() []*kernel.Value {
			return from(w.Emitter, at, column, elementsAtOnce)
		}))
		return nil
	})
}

// scores returns the thread's sums of the products of its warp's queries and the keys in shared memory. q is the
// result of queryMatrices, and lane the index of the thread in its warp.
func (w *warpAttention) scores(q []*kernel.Value, lane *kernel.Value) []*kernel.Value {
	var scores []*kernel.Value
	for j := range keysOfBlock / matrixN {
		sums := make([]*kernel.Value, 4)
		for i := range sums {
			sums[i] = w.Float(ir.F32, 0)
		}
		for k := 0; k < w.Depth; k += termsOfHeld {
			sums = w.MatMulAdd(q[k/2:k/2+8], w.column(w.keys, w.Depth+gap, j*matrixN, k, lane), sums)
		}
		scores = append(scores, sums...)
	}
	return scores
}

// addValues adds the values in shared memory, weighted, to sums.
func (w *warpAttention) addValues(sums, weights []*kernel.Value, lane *kernel.Value) {
	for k := 0; k < keysOfBlock; k += termsOfHeld {
		var a []*kernel.Value
		for _, x := range weights[k/2 : k/2+8] {
			a = append(a, w.Convert(w.Matrix, x))
		}
		for j := range w.Width / matrixN {
			copy(sums[4*j:], w.MatMulAdd(a, w.column(w.values, keysOfBlock+gap, j*matrixN, k, lane), sums[4*j:4*j+4]))
		}
	}
}

// column returns the thread's elements of the second factor of a matrix product by a warp: 16 terms and 8 columns.
// The factor is in shared memory, with a row of the array for each column; rows are `stride` elements apart. `first`
// is the first column, and k the first term.
func (w *warpAttention) column(array *kernel.Value, stride, first, k int, lane *kernel.Value) []*kernel.Value {
	row := w.Add(w.Div(lane, w.Int(4)), w.Int(first))
	at := w.Add(w.Mul(row, w.Int(stride)), w.Add(w.Mul(w.Rem(lane, w.Int(4)), w.Int(2)), w.Int(k)))
	return append(w.LoadN(array, at, 2), w.LoadN(array, w.Add(at, w.Int(8)), 2)...)
}
