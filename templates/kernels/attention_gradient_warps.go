package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// AttendedGradient is the backward pass of an [Attended], as [AttentionGradient] describes it. Its Width is a multiple of
// 16 like its Depth, and its Score must add to scores or exclude keys. Its Sink, Store and StoreSum do not matter.
type AttendedGradient struct {
	Attended
	// DY returns elements of the gradient of the result, as Query returns elements of a query.
	DY func(e *Emitter, at Attending, element *kernel.Value, n int) []*kernel.Value
	// Moments has what [AttentionMoments] computes.
	Moments *Scratch
	// StoreQuery, StoreKey and StoreValue are as in [AttentionGradient].
	StoreQuery, StoreKey, StoreValue func(e *Emitter, at Attending, column, x *kernel.Value)
}

// columnsOfWarps is the number of keys or queries that a block of [WarpAttentionGradient] multiplies at a time.
const columnsOfWarps = 32

// WarpAttentionGradient returns the launch of a kernel of an attention's backward pass, with products by warps, see
// [kernel.MatMulAdd]. If keys is true, it computes the gradients of the keys and values, otherwise the gradient of
// the queries. A block computes a tile of rows. A warp has 16 of these rows, and keeps their gradients in
// registers.
func WarpAttentionGradient(name string, a AttendedGradient, keys bool) (Launch, error) {
	rows, heads := a.Queries, a.Heads
	if keys {
		heads, _ = a.Heads.DivExact(a.Shared)
		rows = a.Keys
	}
	return Grid(name, []dim.Dim{rows.CeilDiv(dim.Const(queriesOfBlock)), heads, a.Batch}, []int{warpsOfBlock * kernel.Warp}, func(e *Emitter) func([]*kernel.Value) {
		w := &warpGradient{warpMatrices: warpMatrices{e, a.Matrix}, AttendedGradient: a, slopes: slopes{Emitter: e, keys: keys, scale: a.Scale, change: a.Score}}
		w.widths = [2]int{a.Depth, a.Width}
		for i, n := range w.widths {
			w.rows[i] = e.Shared([]string{"rows", "other_rows"}[i], a.Matrix, columnsOfWarps*(n+gap))
			if i == 0 || keys {
				w.columns = append(w.columns, e.Shared([]string{"columns", "other_columns"}[i], a.Matrix, n*(columnsOfWarps+gap)))
			}
		}
		w.thread = e.Thread(0)
		w.moments, w.slopes.heads = e.Scratch(a.Moments), e.Dim(a.Heads)
		w.ends = [2]*kernel.Value{e.Dim(a.Queries), e.Dim(a.Keys)}
		if keys {
			w.ends[0], w.ends[1] = w.ends[1], w.ends[0]
		}
		w.limit(e.Dim(a.Past), a.Before, a.After)
		return func(at []*kernel.Value) {
			w.differentiate(at[2], at[1], e.Mul(at[0], e.Int(queriesOfBlock)))
			e.Barrier()
		}
	})
}

// warpGradient is the state of [WarpAttentionGradient] while it builds a kernel.
type warpGradient struct {
	warpMatrices
	AttendedGradient
	slopes
	widths  [2]int           // Depth and Width
	rows    [2]*kernel.Value // a tile of columns for products: queries and dY, or keys and values
	columns []*kernel.Value  // the same tile, transposed, for the gradients
	thread  *kernel.Value
}

// differentiate computes the gradients of the block's rows, from row m on, of a head.
func (w *warpGradient) differentiate(batch, head, m *kernel.Value) {
	e := w.warpMatrices.Emitter
	warp, lane := e.Div(w.thread, e.Int(kernel.Warp)), e.Rem(w.thread, e.Int(kernel.Warp))
	row := e.Add(m, e.Add(e.Mul(warp, e.Int(16)), e.Div(lane, e.Int(4))))
	at := tilePlace{rows: [2]*kernel.Value{row, e.Add(row, e.Int(8))}, first: e.Mul(e.Rem(lane, e.Int(4)), e.Int(2))}
	at.Batch, at.Head, at.Group = batch, head, head
	share := e.Int(1)
	if w.keys {
		share = e.Dim(w.Shared)
	} else {
		at.Group = e.Div(head, e.Dim(w.Shared))
	}
	tall, wide := w.loads(w.Query, w.DY, false), w.loads(w.Key, w.Value, true)
	if w.keys {
		tall, wide = wide, tall
	}
	var matrices [2][]*kernel.Value
	for i, load := range tall {
		matrices[i] = w.rowMatrices(at.rows, at.first, w.ends[0], w.widths[i], load(at.Attending))
	}
	var state []*kernel.Value
	for i := range w.columns {
		for range w.widths[i] / 2 {
			state = append(state, e.Float(ir.F32, 0))
		}
	}
	from, to := e.Int(0), w.ends[1]
	if w.high.known {
		to = e.Min(to, e.Add(e.Add(m, w.high.n), e.Int(queriesOfBlock)))
	}
	if w.low.known {
		from = e.Max(e.Add(m, w.low.n), e.Int(0))
		from = e.Mul(e.Div(from, e.Int(columnsOfWarps)), e.Int(columnsOfWarps))
	}
	state = e.Times(share, state, func(h *kernel.Value, state []*kernel.Value) []*kernel.Value {
		at := at
		if w.keys {
			at.Head = e.Add(e.Mul(head, share), h)
		}
		return e.For(from, to, e.Int(columnsOfWarps), state, func(first *kernel.Value, state []*kernel.Value) []*kernel.Value {
			for i, load := range wide {
				w.loadRows(w.rows[i], w.thread, first, w.ends[1], columnsOfWarps, w.widths[i], load(at.Attending))
				if i < len(w.columns) {
					w.loadColumns(w.columns[i], w.thread, first, w.ends[1], columnsOfWarps, w.widths[i], load(at.Attending))
				}
			}
			e.Barrier()
			at := at
			at.first = e.Add(at.first, first)
			top, sum := w.loadMoments(at, 0, columnsOfWarps), w.loadMoments(at, 1, columnsOfWarps)
			weights := w.weights(at, w.products(matrices[0], w.rows[0], columnsOfWarps, w.widths[0], lane), top, true)
			slopes := w.slopes.slopes(weights, w.products(matrices[1], w.rows[1], columnsOfWarps, w.widths[1], lane), sum)
			sums, n := state, w.widths[0]/2
			w.addProducts(sums[:n], slopes, w.columns[0], columnsOfWarps, lane)
			if w.keys {
				w.addProducts(sums[n:], weights, w.columns[1], columnsOfWarps, lane)
			}
			e.Barrier()
			return sums
		})
	})
	puts := []func(e *Emitter, at Attending, column, x *kernel.Value){w.StoreQuery}
	if w.keys {
		puts = []func(e *Emitter, at Attending, column, x *kernel.Value){w.StoreKey, w.StoreValue}
	}
	for h, row := range at.rows {
		at := at
		at.Query, at.Key = row, row
		e.Do(e.Lt(row, w.ends[0]), func() {
			sums := state
			for n, put := range puts {
				for i := 2 * h; i < w.widths[n]/2; i += 4 {
					for c := range 2 {
						x := sums[i+c]
						if n == 0 {
							x = e.Mul(x, e.Float(ir.F32, w.scale))
						}
						put(e, at.Attending, e.Add(at.first, e.Int(i/4*8+c)), x)
					}
				}
				sums = sums[w.widths[n]/2:]
			}
		})
	}
}

// loads returns two functions, for the operands `first` and `second`. Each gets a head and returns a function that
// loads rows of this head. A row belongs to a key if keys is true, otherwise to a query.
func (w *warpGradient) loads(first, second func(e *Emitter, at Attending, element *kernel.Value, n int) []*kernel.Value, keys bool) (list [2]func(at Attending) loadRow) {
	for i, load := range []func(e *Emitter, at Attending, element *kernel.Value, n int) []*kernel.Value{first, second} {
		list[i] = func(at Attending) loadRow {
			return func(row, element *kernel.Value, n int) []*kernel.Value {
				at := at
				if at.Query = row; keys {
					at.Key = row
				}
				return load(w.warpMatrices.Emitter, at, element, n)
			}
		}
	}
	return list
}
