package kernels

import (
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
	// Past, Before, After, Score, Sink, Store and StoreSum are as in [Attention].
	Past          dim.Dim
	Before, After int
	Score         func(e *Emitter, at Attending, score *kernel.Value) *kernel.Value
	Sink          func(e *Emitter, at Attending) *kernel.Value
	Store         func(e *Emitter, at Attending, column, x *kernel.Value)
	StoreSum      func(e *Emitter, at Attending, top, total *kernel.Value)
}

// These are the sizes of [WarpAttention]. A warp has 16 queries of the block's tile.
const (
	warpsOfBlock   = 4
	queriesOfBlock = warpsOfBlock * matrixM
	keysOfBlock    = 64 // that a block multiplies at a time
)

// WarpAttention returns the [Launch] of a kernel that computes an attention. Warps compute the products, see
// [kernel.MatMulAdd]. A block goes through the keys tile by tile. For each of its queries, it keeps the greatest
// score, the sum of the weights and the sum of weighted values in registers.
func WarpAttention(name string, a Attended) (Launch, error) {
	tiles := a.Queries.CeilDiv(dim.Const(queriesOfBlock))
	return Grid(name, []dim.Dim{tiles, a.Heads, a.Batch}, []int{warpsOfBlock * kernel.Warp}, func(e *Emitter) func([]*kernel.Value) {
		w := &warpAttention{warpMatrices: warpMatrices{e, a.Matrix}, Attended: a}
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

// warpAttention is the state of [WarpAttention] while it builds a kernel.
type warpAttention struct {
	warpMatrices
	Attended
	keys   *kernel.Value // a tile of keys: rows of Depth elements
	values *kernel.Value // a tile of values, transposed: a row has an element of all values
	thread *kernel.Value
}

// attend computes the block's tile of results: the results of the queries of a head from query m on.
func (w *warpAttention) attend(head Attending, m *kernel.Value) {
	warp, lane := w.Div(w.thread, w.Int(kernel.Warp)), w.Rem(w.thread, w.Int(kernel.Warp))
	keys, queries, past := w.Dim(w.Keys), w.Dim(w.Queries), w.Dim(w.Past)
	s := &softmax{
		Emitter: w.Emitter, Attending: head, queries: queries, keys: keys, past: past,
		before: w.Before, after: w.After, scale: w.Scale, excludes: true, change: w.Score,
	}
	s.place(m, warp, lane)
	q := w.rowMatrices(s.rows, s.pair, queries, w.Depth, func(row, element *kernel.Value, n int) []*kernel.Value {
		at := head
		at.Query = row
		return w.Query(w.Emitter, at, element, n)
	})

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
		key := func(load func(e *Emitter, at Attending, element *kernel.Value, n int) []*kernel.Value) loadRow {
			return func(row, element *kernel.Value, n int) []*kernel.Value {
				at := head
				at.Key = row
				return load(w.Emitter, at, element, n)
			}
		}
		w.loadRows(w.keys, w.thread, first, keys, keysOfBlock, w.Depth, key(w.Key))
		w.loadColumns(w.values, w.thread, first, keys, keysOfBlock, w.Width, key(w.Value))
		w.Barrier()
		scores := w.products(q, w.keys, keysOfBlock, w.Depth, lane)
		r, weights, factors := s.weigh(runningOf(state[:4]), scores, first, true)
		sums := state[4:]
		for i := range sums {
			sums[i] = w.Mul(sums[i], factors[i/2%2])
		}
		w.addProducts(sums, weights, w.values, keysOfBlock, lane)
		w.Barrier()
		return append(r.list(), sums...)
	})
	for h, total := range s.totals(runningOf(state[:4])) {
		share, at := s.share(total), head
		at.Query = s.rows[h]
		w.Do(w.Lt(at.Query, queries), func() {
			for i := 2 * h; i < w.Width/2; i += 4 {
				for c := range 2 {
					w.Attended.Store(w.Emitter, at, w.Add(s.pair, w.Int(i/4*8+c)), w.Mul(state[4+i+c], share))
				}
			}
		})
		if w.StoreSum != nil {
			s.storeSum(runningOf(state[:4]), h, total, w.StoreSum)
		}
	}
}
