package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// GradientTiles say how a pipelined kernel of [AttentionGradient] computes.
type GradientTiles struct {
	// Groups is the number of groups of threads that multiply, 2 or 3. A group has 64 rows of a block's tile.
	Groups int
	// Columns is the number of keys or queries that are multiplied at a time: 64, or 128 if a row has at most 64
	// elements.
	Columns int
	// Stages is how many tiles of columns are in shared memory.
	Stages int
	// Blocks and Cache are as in [AttentionTiles].
	Blocks, Cache int
}

// GradientTilesOf returns the tiles of the pipelined kernels of an attention's backward pass. They were measured on an H200
// with rows of 64 and of 128 elements.
func GradientTilesOf(a AttentionGradient) GradientTiles {
	t := GradientTiles{Groups: 2, Columns: 64, Stages: 4, Blocks: multiprocessors, Cache: 24 << 20}
	if columnsOf(a.Width) > columnsOfBox {
		t.Stages = 3
	}
	return t
}

// PipelinedAttentionGradient returns the launch of a kernel of an attention's backward pass, for devices that run
// pipelined kernels. If keys is true, the kernel computes the gradients of the keys and values, otherwise the
// gradient of the queries. In each block, one group of threads copies operands to shared memory. The other groups
// multiply them, and keep rows of the gradients in registers. It returns an error if the kernel cannot compute a.
func PipelinedAttentionGradient(name string, a AttentionGradient, keys bool, t GradientTiles) (Launch, error) {
	if err := a.check(); err != nil {
		return Launch{}, err
	}
	if columns := columnsOf(a.Width); !a.DY.hasBoxes(a.Width) || t.Columns%rowsOfGroup != 0 || rowsOfMoments%t.Columns != 0 || columns > columnsOfBox && t.Columns != rowsOfGroup {
		return Launch{}, errAttention
	}
	p := &attentionGradient{
		headBoxes: headBoxes{matrix: a.Matrix, width: a.Width, columns: columnsOf(a.Width)}, AttentionGradient: a, tile: t, slopes: slopes{keys: keys, scale: a.Scale, change: a.Score},
		m: t.Groups * rowsOfGroup, tall: [2]HeadRows{a.Q, a.DY}, wide: [2]HeadRows{a.K, a.V}, rowHeads: a.Heads, share: 1, counts: [2]int{a.Queries, a.Keys},
	}
	if keys {
		p.tall, p.wide, p.rowHeads, p.share, p.counts = p.wide, p.tall, a.KeyHeads, a.Heads/a.KeyHeads, [2]int{a.Keys, a.Queries}
	}
	for _, r := range p.wide {
		if p.counts[1]%t.Columns != 0 && r.Row+p.counts[1] != r.Rows {
			return Launch{}, errAttention // the weight 0 of a row that is not part of the attention does not remove a NaN
		}
	}
	p.tilesN = (p.counts[1] + t.Columns - 1) / t.Columns
	p.order = headTiles{
		heads: a.Batch * p.rowHeads, each: (p.counts[0] + p.m - 1) / p.m, blocks: t.Blocks, uneven: a.After >= 0, firstLongest: keys, pairs: a.Before < 0,
		atOnce: headsAtOnce(a.Batch*p.rowHeads, t.Cache/(2*p.counts[1]*p.share*a.Width*a.Matrix.Size())),
	}
	return New(name, []dim.Dim{dim.Const(p.order.gridOf())}, []int{kernel.Group * (1 + t.Groups)}, func(e *Emitter) {
		p.headBoxes.Emitter, p.slopes.Emitter = e, e
		p.build()
	})
}

// attentionGradient is the state of [PipelinedAttentionGradient] while it builds a kernel.
type attentionGradient struct {
	headBoxes
	AttentionGradient
	slopes
	tile     GradientTiles
	order    headTiles
	m        int    // rows of a tile
	rowHeads int    // number of heads of rows
	share    int    // heads of columns for each head of rows
	counts   [2]int // numbers of rows and columns
	tilesN   int    // number of tiles of columns
	// The first of each pair is multiplied for scores: queries and keys. The second is dY and values.
	tall, wide    [2]HeadRows      // of rows and of columns
	x, y          [2]*kernel.Value // arrays of boxes with the tiles of rows and of columns
	mapX, mapY    [2]*kernel.Value
	xFull, xEmpty *kernel.Value
	full, empty   *kernel.Value    // by stage
	products      [2]*kernel.Value // sums: rows multiplied by columns
	results       []*kernel.Value  // sums: the gradients of tall[0], and of tall[1] if there is one
}

func (p *attentionGradient) build() {
	e := p.headBoxes.Emitter
	groups, stages := p.tile.Groups, p.tile.Stages
	for i := range p.x {
		p.x[i] = e.Shared([]string{"x", "dx"}[i], p.matrix, p.m*p.columns)
	}
	for i := range p.y {
		p.y[i] = e.Shared([]string{"y", "dy"}[i], p.matrix, stages*p.tile.Columns*p.columns)
	}
	p.xFull, p.xEmpty = e.Phases("x_full", 1, 1), e.Phases("x_empty", 1, groups)
	p.full, p.empty = e.Phases("full", stages, 1), e.Phases("empty", stages, groups)
	for i := range p.products {
		p.products[i] = e.Sums([]string{"scores", "slopes"}[i], p.tile.Columns)
		p.mapX[i], p.mapY[i] = p.boxes("map_x", p.tall[i], rowsOfGroup), p.boxes("map_y", p.wide[i], rowsOfGroup)
	}
	p.results = append(p.results, e.Sums("sums", p.columns))
	if p.keys {
		p.results = append(p.results, e.Sums("values", p.columns))
	}
	p.moments = e.Scratch(p.Moments)
	p.ends = [2]*kernel.Value{e.Int(p.counts[0]), e.Int(p.counts[1])}
	p.slopes.heads = e.Int(p.Heads)
	p.limit(e.Int(p.Past), p.Before, p.After)
	toCopy, toMultiply := 24, 240
	if groups == 3 {
		toCopy, toMultiply = 32, 160
	}
	e.If(e.Eq(e.Group(), e.Int(0)), func() []*kernel.Value {
		e.Registers(toCopy)
		e.Do(e.Eq(e.Thread(0), e.Int(0)), p.copyTiles)
		return nil
	}, func() []*kernel.Value {
		e.Registers(toMultiply)
		p.multiply()
		return nil
	})
}

// strip is a tile of rows of a head, from row m on. Rows are queries and columns are keys, or the reverse if the
// kernel computes the gradients of keys and values. All weights of these rows outside of the tiles `from` … `to`−1
// of columns are 0. `other` is the head of the columns, or the first of several heads.
type strip struct {
	batch, head, other *kernel.Value
	m, from, to        *kernel.Value
}

// eachStrip calls do for each tile of rows that the block computes, as [headTiles.eachTile] does.
func (p *attentionGradient) eachStrip(carried []*kernel.Value, do func(t strip, carried []*kernel.Value) []*kernel.Value) {
	e := p.headBoxes.Emitter
	p.order.eachTile(e, carried, func(head, row *kernel.Value, carried []*kernel.Value) []*kernel.Value {
		t := strip{batch: e.Div(head, e.Int(p.rowHeads)), head: e.Rem(head, e.Int(p.rowHeads)), m: e.Mul(row, e.Int(p.m))}
		t.other = e.Mul(t.head, e.Int(p.share))
		if !p.keys {
			t.other = e.Div(t.head, e.Int(p.Heads/p.KeyHeads))
		}
		t.from, t.to = p.span(t.m, p.m)
		return do(t, carried)
	})
}

// span returns the range of tiles of columns outside of which all weights of the rows m to m+n−1
// are 0.
func (p *attentionGradient) span(m *kernel.Value, n int) (from, to *kernel.Value) {
	e := p.headBoxes.Emitter
	from, to = e.Int(0), e.Int(p.tilesN)
	columns := e.Int(p.tile.Columns)
	if p.high.known {
		end := e.Max(e.Add(e.Add(m, p.high.n), e.Int(n+p.tile.Columns-1)), e.Int(0))
		to = e.Min(to, e.Div(end, columns))
	}
	if p.low.known {
		from = e.Min(e.Div(e.Max(e.Add(m, p.low.n), e.Int(0)), columns), to)
	}
	return from, to
}

// copyTiles is the program of the group that copies.
func (p *attentionGradient) copyTiles() {
	e := p.headBoxes.Emitter
	bytes := func(rows int) *kernel.Value { return e.Int(2 * rows * p.columns * p.matrix.Size()) }
	zero, one := e.Int(0), e.Int(1)
	p.eachStrip([]*kernel.Value{zero, one, one}, func(t strip, carried []*kernel.Value) []*kernel.Value {
		e.Await(p.xEmpty, zero, carried[2])
		e.Arrive(p.xFull, zero, bytes(p.m))
		for i, r := range p.tall {
			p.copyRows(p.x[i], zero, p.mapX[i], r, p.xFull, zero, t.batch, t.head, t.m, p.m, rowsOfGroup)
		}
		ring := e.Times(e.Int(p.share), carried[:2], func(h *kernel.Value, carried []*kernel.Value) []*kernel.Value {
			return e.ForUnrolled(1, t.from, t.to, one, carried, func(tile *kernel.Value, carried []*kernel.Value) []*kernel.Value {
				s := stage{carried[0], carried[1]}
				e.Await(p.empty, s.index, s.phase)
				e.Arrive(p.full, s.index, bytes(p.tile.Columns))
				at := e.Mul(s.index, e.Int(p.tile.Columns*p.columns))
				for i, r := range p.wide {
					p.copyRows(p.y[i], at, p.mapY[i], r, p.full, s.index, t.batch, e.Add(t.other, h), e.Mul(tile, e.Int(p.tile.Columns)), p.tile.Columns, rowsOfGroup)
				}
				s = p.next(s, p.tile.Stages)
				return []*kernel.Value{s.index, s.phase}
			})
		})
		return []*kernel.Value{ring[0], ring[1], p.other(carried[2])}
	})
}

// differentiator is the state of a group that multiplies.
type differentiator struct {
	*attentionGradient
	*Emitter
	strip
	group, leads *kernel.Value
	own          *kernel.Value // the group's first row
	at           tilePlace     // of the tile of columns that begins at 0
}

// multiply is the program of the groups that multiply.
func (p *attentionGradient) multiply() {
	e := p.headBoxes.Emitter
	group := e.Sub(e.Group(), e.Int(1))
	thread := e.Rem(e.Thread(0), e.Int(kernel.Group))
	warp, lane := e.Div(thread, e.Int(kernel.Warp)), e.Rem(thread, e.Int(kernel.Warp))
	p.eachStrip([]*kernel.Value{e.Int(0), e.Int(0), e.Int(0)}, func(t strip, carried []*kernel.Value) []*kernel.Value {
		d := &differentiator{attentionGradient: p, Emitter: e, strip: t, group: group, leads: e.Eq(thread, e.Int(0))}
		d.own = e.Add(t.m, e.Mul(group, e.Int(rowsOfGroup)))
		row := e.Add(d.own, e.Add(e.Mul(warp, e.Int(16)), e.Div(lane, e.Int(4))))
		d.at = tilePlace{rows: [2]*kernel.Value{row, e.Add(row, e.Int(8))}, first: e.Mul(e.Rem(lane, e.Int(4)), e.Int(2))}
		d.at.Batch = t.batch
		e.Await(p.xFull, e.Int(0), carried[2])
		for _, s := range p.results {
			for i := range p.columns / 2 {
				e.SetSum(s, i, e.Float(ir.F32, 0))
			}
		}
		ring := e.Times(e.Int(p.share), carried[:2], d.differentiate)
		e.Do(d.leads, func() { e.Arrive(p.xEmpty, e.Int(0), nil) })
		d.store()
		return []*kernel.Value{ring[0], ring[1], p.other(carried[2])}
	})
}

// differentiate adds the products with the columns of one head to the group's results, and waits until they are
// done. h is the index of this head among the heads of columns that share the rows. ring holds the stage of the
// first tile of columns. differentiate returns the stage that follows the last tile.
func (d *differentiator) differentiate(h *kernel.Value, ring []*kernel.Value) []*kernel.Value {
	d.at.Head, d.at.Group = d.head, d.other
	if d.keys {
		d.at.Head, d.at.Group = d.Add(d.other, h), d.head
	}
	one := d.Int(1)
	from, to := d.from, d.to
	bounded := d.low.known || d.high.known
	if bounded { // tiles of which only other groups have weights
		from, to = d.span(d.own, rowsOfGroup)
		from = d.Min(d.Max(from, d.from), d.to)
		to = d.Min(d.Max(to, from), d.to)
		ring = d.ForUnrolled(1, d.from, from, one, ring, d.skip)
	}
	var rows [2]func(i int) *kernel.Value // the moments, if rows are queries
	for i := range rows {
		if !d.keys {
			rows[i] = d.loadMoments(d.at, i, d.tile.Columns)
		}
	}
	step := func(masked bool) func(tile *kernel.Value, state []*kernel.Value) []*kernel.Value {
		return func(tile *kernel.Value, state []*kernel.Value) []*kernel.Value {
			return d.step(tile, state, rows, masked)
		}
	}
	state := append(ring[:2:2], d.Int(-1))
	plain, end := d.plain(from, to)
	if d.Score != nil {
		plain, end = to, to
	}
	if d.low.known || d.Score != nil {
		state = d.ForUnrolled(1, from, plain, one, state, step(true))
	}
	state = d.ForUnrolled(1, plain, end, one, state, step(false))
	if d.high.known || !d.keys && d.counts[1]%d.tile.Columns != 0 {
		state = d.ForUnrolled(1, end, to, one, state, step(true))
	}
	d.Drain(0)
	d.release(state[2])
	ring = state[:2]
	if bounded {
		ring = d.ForUnrolled(1, to, d.to, one, ring, d.skip)
	}
	return ring
}

// plain returns the range of the tiles of columns, among `from` … to−1, that need no mask.
func (d *differentiator) plain(from, to *kernel.Value) (first, end *kernel.Value) {
	n := d.Int(d.tile.Columns)
	first, end = from, to
	if d.low.known {
		last := d.Max(d.Add(d.Add(d.own, d.low.n), d.Int(rowsOfGroup-1+d.tile.Columns-1)), d.Int(0))
		first = d.Min(d.Max(d.Div(last, n), from), to)
	}
	if d.high.known {
		end = d.Min(end, d.Div(d.Max(d.Add(d.Add(d.own, d.high.n), d.Int(1)), d.Int(0)), n))
	}
	if !d.keys && d.counts[1]%d.tile.Columns != 0 {
		end = d.Min(end, d.Int(d.counts[1]/d.tile.Columns))
	}
	return first, d.Max(end, first)
}

// skip waits for a tile of columns, and releases it unused. It returns the stage of the next tile.
func (d *differentiator) skip(_ *kernel.Value, ring []*kernel.Value) []*kernel.Value {
	s := stage{ring[0], ring[1]}
	d.Await(d.full, s.index, s.phase)
	d.release(s.index)
	s = d.next(s, d.tile.Stages)
	return []*kernel.Value{s.index, s.phase}
}

// release lets one thread of the group arrive at the barrier of stage i, unless i is negative.
func (d *differentiator) release(i *kernel.Value) {
	d.Do(d.And(d.leads, d.Ge(i, d.Int(0))), func() { d.Arrive(d.empty, i, nil) })
}

// step adds the products with a tile of columns to the results. state holds the stage of the tile, and the index of
// the stage before it, whose products may still run, or −1. step returns the state for the next tile. If rows are
// queries, rows[i](k) is moment i of the query of the thread's element k; otherwise rows is not used.
func (d *differentiator) step(tile *kernel.Value, state []*kernel.Value, rows [2]func(i int) *kernel.Value, masked bool) []*kernel.Value {
	s, last := stage{state[0], state[1]}, state[2]
	d.Await(d.full, s.index, s.phase)
	for i := range d.products {
		d.multiplyColumns(i, s)
		d.Commit()
	}
	at := d.at
	at.first = d.Add(at.first, d.Mul(tile, d.Int(d.tile.Columns)))
	moments := func(i int) func(i int) *kernel.Value {
		if d.keys {
			return d.loadMoments(at, i, d.tile.Columns)
		}
		return rows[i]
	}
	sums := func(i int) []*kernel.Value {
		list := make([]*kernel.Value, d.tile.Columns/2)
		for k := range list {
			list[k] = d.Sum(d.products[i], k)
		}
		return list
	}
	top := moments(0)
	d.Drain(1)
	d.release(last)
	weights := d.weights(at, sums(0), top, masked)
	sum := moments(1)
	d.Drain(0)
	words := [][]*kernel.Value{d.words(d.slopes.slopes(weights, sums(1), sum))}
	if d.keys {
		words = append(words, d.words(weights))
	}
	for i := len(words) - 1; i >= 0; i-- {
		d.multiplyHeld(i, words[i], s)
	}
	d.Commit()
	next := d.next(s, d.tile.Stages)
	return []*kernel.Value{next.index, next.phase, s.index}
}

// multiplyColumns starts a product of the group's rows and the columns of stage s: of queries and
// keys if i is 0, of dY and values if i is 1.
func (d *differentiator) multiplyColumns(i int, s stage) {
	x := d.Mul(d.group, d.Int(rowsOfGroup*d.columns))
	y := d.Mul(s.index, d.Int(d.tile.Columns*d.columns))
	for c := 0; c < d.Width; c += termsOfHeld {
		at := c/columnsOfBox*rowsOfGroup*columnsOfBox + c%columnsOfBox
		d.MultiplyTiles(d.products[i], kernel.Tile{Array: d.x[i], First: d.Add(x, d.Int(at))}, kernel.Tile{Array: d.y[i], First: d.Add(y, d.Int(at))}, d.Bool(c > 0))
	}
}

// multiplyHeld starts the product of a matrix in registers and the columns of stage s, which is added to
// result i. The matrix is dS if i is 0, and P if i is 1. `words` are the thread's elements of the matrix.
func (d *differentiator) multiplyHeld(i int, words []*kernel.Value, s stage) {
	y := d.Mul(s.index, d.Int(d.tile.Columns*d.columns))
	for k := 0; k < d.tile.Columns; k += termsOfHeld {
		at := k/rowsOfGroup*rowsOfGroup*d.columns + k%rowsOfGroup*columnsOfBox
		d.MultiplyHeld(d.results[i], [4]*kernel.Value(words[k/4:]), kernel.Tile{Array: d.y[i], First: d.Add(y, d.Int(at)), Across: true}, d.Bool(true))
	}
}

// store stores the group's part of the results.
func (d *differentiator) store() {
	puts := []func(e *Emitter, at Attending, column, x *kernel.Value){d.StoreQuery}
	if d.keys {
		puts = []func(e *Emitter, at Attending, column, x *kernel.Value){d.StoreKey, d.StoreValue}
	}
	for h, row := range d.at.rows {
		at := Attending{Batch: d.batch, Head: d.head, Query: row}
		if d.keys {
			at = Attending{Batch: d.batch, Group: d.head, Key: row}
		}
		d.Do(d.Lt(row, d.ends[0]), func() {
			for n, put := range puts {
				for i := 2 * h; i < d.Width/2; i += 4 {
					d.together(d.Add(d.at.first, d.Int(i/4*8)), 2, func(lane int, column *kernel.Value) {
						x := d.Sum(d.results[n], i+lane)
						if n == 0 {
							x = d.Mul(x, d.Float(ir.F32, d.Scale))
						}
						put(d.Emitter, at, column, x)
					})
				}
			}
		})
	}
}
