package kernels

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// PipelinedAttention returns the [Launch] of a kernel that computes an attention, for devices that run pipelined
// kernels. In each block, one group of threads copies queries, keys and values to shared memory. The other groups
// multiply them, and keep the greatest score and the sum of the weights of each query in registers.
// PipelinedAttention returns an error if the kernel cannot compute a.
func PipelinedAttention(name string, a Attention, t AttentionTiles) (Launch, error) {
	if err := a.check(); err != nil {
		return Launch{}, err
	}
	if a.Keys%t.Keys != 0 && a.V.Row+a.Keys != a.V.Rows {
		return Launch{}, errAttention // the weight 0 of a row that is not a value does not remove a NaN
	}
	p := &attention{headBoxes: headBoxes{matrix: a.Matrix, width: a.Width, columns: columnsOf(a.Width)}, Attention: a, tile: t, queries: t.Groups * rowsOfGroup}
	p.tilesN = (a.Keys + t.Keys - 1) / t.Keys
	p.order = p.headTiles()
	return New(name, []dim.Dim{dim.Const(p.order.gridOf())}, []int{kernel.Group * (1 + t.Groups)}, func(e *Emitter) {
		p.Emitter = e
		p.build()
	})
}

// stagesOfQueries is the number of tiles of queries that fit in shared memory at a time. With two, the next tile is
// copied while the groups compute with the current one.
const stagesOfQueries = 2

// attention is the state of [PipelinedAttention] while it builds a kernel.
type attention struct {
	headBoxes
	Attention
	tile             AttentionTiles
	order            headTiles
	queries          int           // of a tile
	tilesN           int           // number of tiles of keys
	q, k, v          *kernel.Value // arrays of boxes, with a tile for each stage
	mapQ, mapK, mapV *kernel.Value
	qFull, qEmpty    *kernel.Value // by stage
	kFull, kEmpty    *kernel.Value // by stage
	vFull, vEmpty    *kernel.Value // by stage
	turns            *kernel.Value // by group
	scores, sums     *kernel.Value // of a group
}

func (p *attention) build() {
	p.q = p.Shared("q", p.Matrix, stagesOfQueries*p.queries*p.columns)
	p.k = p.Shared("k", p.Matrix, p.tile.Stages*p.tile.Keys*p.columns)
	p.v = p.Shared("v", p.Matrix, p.tile.Stages*p.tile.Keys*p.columns)
	groups, stages := p.tile.Groups, p.tile.Stages
	p.qFull, p.qEmpty = p.Phases("q_full", stagesOfQueries, 1), p.Phases("q_empty", stagesOfQueries, groups)
	p.kFull, p.kEmpty = p.Phases("k_full", stages, 1), p.Phases("k_empty", stages, groups)
	p.vFull, p.vEmpty = p.Phases("v_full", stages, 1), p.Phases("v_empty", stages, groups)
	if p.tile.Turns {
		p.turns = p.Phases("turns", groups, 1)
	}
	p.scores, p.sums = p.Sums("scores", p.tile.Keys), p.Sums("sums", p.columns)
	p.mapQ, p.mapK, p.mapV = p.boxes("map_q", p.Q, rowsOfGroup), p.boxes("map_k", p.K, p.tile.Keys), p.boxes("map_v", p.V, rowsOfGroup)
	toCopy, toMultiply := 24, 240
	if groups == 3 {
		toCopy, toMultiply = 32, 160
	}
	p.If(p.Eq(p.Group(), p.Int(0)), func() []*kernel.Value {
		p.Registers(toCopy)
		p.Do(p.Eq(p.Thread(0), p.Int(0)), p.copyTiles)
		return nil
	}, func() []*kernel.Value {
		p.Registers(toMultiply)
		p.multiply()
		return nil
	})
}

// part is a tile of the result: the queries of a head from query m on. These queries attend only to keys in the tiles
// `from` … `to`−1 of the keys.
type part struct {
	Attending
	m, from, to *kernel.Value
}

// headTiles returns the order of the tiles. If keys after a query are excluded, the later tiles of a head take
// longer, because their queries may attend to more keys.
func (p *attention) headTiles() headTiles {
	o := headTiles{heads: p.Batch * p.Heads, each: (p.Queries + p.queries - 1) / p.queries, blocks: p.tile.Blocks, uneven: p.After >= 0}
	if o.uneven {
		o.pairs = p.Before < 0
		o.atOnce = headsAtOnce(o.heads, p.tile.Cache/(2*p.Keys*p.Width*p.Matrix.Size())*(p.Heads/p.KeyHeads))
	}
	return o
}

// eachPart calls do for each tile that the block computes. The first call gets carried, and each later call gets the
// values that the call before returned.
func (p *attention) eachPart(carried []*kernel.Value, do func(t part, carried []*kernel.Value) []*kernel.Value) {
	p.order.eachTile(p.Emitter, carried, func(head, row *kernel.Value, carried []*kernel.Value) []*kernel.Value {
		return do(p.partOf(head, row), carried)
	})
}

// partOf returns tile `row` of a head. `head` counts the heads of all batch elements.
func (p *attention) partOf(head, row *kernel.Value) part {
	t := part{m: p.Mul(row, p.Int(p.queries)), from: p.Int(0)}
	t.Batch, t.Head = p.Div(head, p.Int(p.Heads)), p.Rem(head, p.Int(p.Heads))
	t.Group = p.Div(t.Head, p.Int(p.Heads/p.KeyHeads))
	t.to = p.end(t.m, p.queries)
	if p.Before >= 0 {
		first := p.Max(p.Add(t.m, p.Int(p.Past-p.Before)), p.Int(0))
		t.from = p.Min(p.Div(first, p.Int(p.tile.Keys)), p.Sub(t.to, p.Int(1)))
	}
	return t
}

// end returns the number of tiles of keys, from the first one on, that together contain all keys to which queries m
// to m+n−1 may attend.
func (p *attention) end(m *kernel.Value, n int) *kernel.Value {
	all := p.Int(p.tilesN)
	if p.After < 0 {
		return all
	}
	keys := p.Add(m, p.Int(p.Past+p.After+n+p.tile.Keys-1))
	return p.Min(all, p.Div(keys, p.Int(p.tile.Keys)))
}

// copyTiles emits the program of the group of threads that copies. For each tile of the result, this group copies the
// queries, and then the tiles of keys and values, the last one first.
func (p *attention) copyTiles() {
	bytes := func(rows int) *kernel.Value { return p.Int(rows * p.columns * p.Matrix.Size()) }
	start := []*kernel.Value{p.Int(0), p.Int(1), p.Int(0), p.Int(1)}
	p.eachPart(start, func(t part, carried []*kernel.Value) []*kernel.Value {
		q := stage{carried[2], carried[3]}
		p.Await(p.qEmpty, q.index, q.phase)
		p.Arrive(p.qFull, q.index, bytes(p.queries))
		p.copyRows(p.q, p.Mul(q.index, p.Int(p.queries*p.columns)), p.mapQ, p.Q, p.qFull, q.index, t.Batch, t.Head, t.m, p.queries, rowsOfGroup)
		ring := p.Times(p.Sub(t.to, t.from), carried[:2], func(i *kernel.Value, carried []*kernel.Value) []*kernel.Value {
			s := stage{carried[0], carried[1]}
			row := p.Mul(p.Sub(p.Sub(t.to, p.Int(1)), i), p.Int(p.tile.Keys))
			to := p.Mul(s.index, p.Int(p.tile.Keys*p.columns))
			p.Await(p.kEmpty, s.index, s.phase)
			p.Arrive(p.kFull, s.index, bytes(p.tile.Keys))
			p.copyRows(p.k, to, p.mapK, p.K, p.kFull, s.index, t.Batch, t.Group, row, p.tile.Keys, p.tile.Keys)
			p.Await(p.vEmpty, s.index, s.phase)
			p.Arrive(p.vFull, s.index, bytes(p.tile.Keys))
			p.copyRows(p.v, to, p.mapV, p.V, p.vFull, s.index, t.Batch, t.Group, row, p.tile.Keys, rowsOfGroup)
			s = p.next(s, p.tile.Stages)
			return []*kernel.Value{s.index, s.phase}
		})
		q = p.next(q, stagesOfQueries)
		return []*kernel.Value{ring[0], ring[1], q.index, q.phase}
	})
}

// attender is the state of a group that multiplies.
type attender struct {
	*attention
	part
	softmax      *softmax
	queries      stage
	group, leads *kernel.Value
	own, last    *kernel.Value // the group's first query, and the end of the tiles of keys that matter to it
}

// multiply emits the program of the groups of threads that multiply. Such a group overlaps two tiles: while the
// products of the weights and values of one tile are computed, it computes the weights of the next tile.
func (p *attention) multiply() {
	group := p.Sub(p.Group(), p.Int(1))
	thread := p.Rem(p.Thread(0), p.Int(kernel.Group))
	warp, lane := p.Div(thread, p.Int(kernel.Warp)), p.Rem(thread, p.Int(kernel.Warp))
	first := p.Select(p.Eq(group, p.Int(0)), p.Int(1), p.Int(0)) // group 0 has the first turn
	start := []*kernel.Value{p.Int(0), p.Int(0), first, p.Int(0), p.Int(0)}
	p.eachPart(start, func(t part, carried []*kernel.Value) []*kernel.Value {
		a := &attender{attention: p, part: t, group: group, leads: p.Eq(thread, p.Int(0)), queries: stage{carried[3], carried[4]}}
		a.own = p.Add(t.m, p.Mul(group, p.Int(rowsOfGroup)))
		a.last = p.end(a.own, rowsOfGroup)
		a.softmax = &softmax{
			Emitter: p.Emitter, Attending: t.Attending, queries: p.Int(p.Queries), keys: p.Int(p.Keys), past: p.Int(p.Past),
			before: p.Before, after: p.After, scale: p.Scale, excludes: p.masks(), change: p.Score,
		}
		a.softmax.place(a.own, warp, lane)
		ring := a.attend(carried[:3])
		q := p.next(a.queries, stagesOfQueries)
		return append(ring, q.index, q.phase)
	})
}

// attend computes the rows of a tile of the result that belong to the group. ring holds the stage of the first tile
// of keys (its index and its phase), and the phase of the barrier at which the group waits for its turn to
// multiply. attend returns these three values for the next tile of the result.
func (a *attender) attend(ring []*kernel.Value) []*kernel.Value {
	a.Await(a.qFull, a.queries.index, a.queries.phase)
	idle, skips := a.unused()
	works := a.Lt(a.own, a.Int(a.Queries))
	if idle || skips {
		n := a.Sub(a.to, a.last)
		if idle {
			n = a.Select(works, n, a.Sub(a.to, a.from))
		}
		ring = a.ForUnrolled(1, a.Int(0), n, a.Int(1), ring, a.skip)
	}
	compute := func() []*kernel.Value { return a.compute(stage{ring[0], ring[1]}, ring[2]) }
	if !idle {
		return compute()
	}
	return a.If(works, compute, func() []*kernel.Value {
		a.release(a.qEmpty, a.queries.index)
		return ring
	})
}

// unused returns two facts about all tiles of the result. idle is true if some group has no queries in some tile.
// skips is true if some tile of keys is needed by some groups of a block, but not by all.
func (p *attention) unused() (idle, skips bool) {
	idle = (p.queries-p.Queries%p.queries)%p.queries >= rowsOfGroup
	end := func(m, n int) int { return min(p.tilesN, (p.Past+m+p.After+n+p.tile.Keys-1)/p.tile.Keys) }
	for m := 0; m < p.Queries && p.After >= 0; m += p.queries {
		skips = skips || end(m, rowsOfGroup) < end(m, p.queries)
	}
	return idle, skips
}

// skip passes over a tile of keys and values that the group does not need: it waits for the tile and releases it.
// ring is as in attend. skip returns it for the next tile of keys.
func (a *attender) skip(_ *kernel.Value, ring []*kernel.Value) []*kernel.Value {
	s := stage{ring[0], ring[1]}
	a.take(s, ring[2])
	a.pass()
	a.release(a.kEmpty, s.index)
	a.Await(a.vFull, s.index, s.phase)
	a.release(a.vEmpty, s.index)
	s = a.next(s, a.tile.Stages)
	return []*kernel.Value{s.index, s.phase, a.other(ring[2])}
}

// compute computes the rows of a tile of the result that belong to the group. s is the stage of the first tile of
// keys, and turn the phase of the barrier at which the group waits for its turn to multiply. compute returns these
// for the next tile of the result, as attend does.
func (a *attender) compute(s stage, turn *kernel.Value) []*kernel.Value {
	for i := range a.columns / 2 {
		a.SetSum(a.sums, i, a.Float(ir.F32, 0))
	}
	a.multiplyKeys(s, turn)
	a.Drain(0)
	a.pass()
	a.release(a.kEmpty, s.index)
	key := a.Sub(a.last, a.Int(1))
	r, weights, _ := a.weigh(a.softmax.start(a.Sink), key, a.masks())
	pack := func(s stage, turn *kernel.Value, r running, weights []*kernel.Value) []*kernel.Value {
		return slices.Concat([]*kernel.Value{s.index, s.phase, a.other(turn)}, r.list(), a.words(weights))
	}
	unpack := func(state []*kernel.Value) (s stage, turn *kernel.Value, r running, words []*kernel.Value) {
		return stage{state[0], state[1]}, state[2], runningOf(state[3:7]), state[7:]
	}
	state := pack(s, turn, r, weights)
	step := func(masked bool) func(i *kernel.Value, state []*kernel.Value) []*kernel.Value {
		return func(i *kernel.Value, state []*kernel.Value) []*kernel.Value {
			last, turn, r, words := unpack(state)
			s := a.next(last, a.tile.Stages)
			a.multiplyKeys(s, turn)
			a.multiplyValues(last, words)
			a.pass()
			a.Drain(1)
			a.release(a.kEmpty, s.index)
			r, weights, factors := a.weigh(r, a.Sub(key, i), masked)
			a.Drain(0)
			a.release(a.vEmpty, last.index)
			for i := range a.Width / 2 {
				a.SetSum(a.sums, i, a.Mul(a.Sum(a.sums, i), factors[i/2%2]))
			}
			return pack(s, turn, r, weights)
		}
	}
	tiles := a.Sub(a.last, a.from)
	one := a.Int(1)
	plain, rest := a.plain()
	switch {
	case !a.masks():
		state = a.ForUnrolled(1, one, tiles, one, state, step(false))
	case a.Score != nil:
		state = a.ForUnrolled(1, one, tiles, one, state, step(true))
	default:
		if a.masked() > 1 {
			state = a.ForUnrolled(1, one, plain, one, state, step(true))
		}
		state = a.ForUnrolled(1, a.Max(plain, one), rest, one, state, step(false))
		if a.Before >= 0 {
			state = a.ForUnrolled(1, a.Max(rest, one), tiles, one, state, step(true))
		}
	}
	last, turn, r, words := unpack(state)
	a.release(a.qEmpty, a.queries.index)
	a.multiplyValues(last, words)
	a.Drain(0)
	a.release(a.vEmpty, last.index)
	a.store(r)
	s = a.next(last, a.tile.Stages)
	return []*kernel.Value{s.index, s.phase, turn}
}

// masked returns how many tiles at the end of a group's keys need a mask. It is the maximum over all groups.
func (p *attention) masked() int {
	most := 0
	for m := 0; m < p.Queries; m += rowsOfGroup {
		to, whole := p.tilesN, p.Keys/p.tile.Keys
		if p.After >= 0 {
			end := p.Past + m + p.After
			to, whole = min(to, (end+rowsOfGroup+p.tile.Keys-1)/p.tile.Keys), min(whole, (end+1)/p.tile.Keys)
		}
		most = max(most, to-whole)
	}
	return most
}

// masks reports whether scores need a mask: some tile has an excluded key, or Score changes the scores.
func (p *attention) masks() bool {
	return p.Score != nil || p.After >= 0 || p.Before >= 0 || p.Keys%p.tile.Keys != 0
}

// plain returns which of the group's tiles of keys need no mask. Tiles are counted from the last one, which is 0, to
// earlier ones: tiles `plain` … rest−1 need no mask.
func (a *attender) plain() (plain, rest *kernel.Value) {
	n := a.Int(a.tile.Keys)
	whole := a.Int(a.Keys / a.tile.Keys) // tiles without keys after the last
	if a.After >= 0 {
		whole = a.Min(whole, a.Div(a.Add(a.own, a.Int(a.Past+a.After+1)), n))
	}
	rest = a.Sub(a.last, a.from)
	plain = a.Min(a.Max(a.Sub(a.last, whole), a.Int(0)), rest)
	if a.Before >= 0 {
		first := a.Max(a.Add(a.own, a.Int(a.Past+rowsOfGroup-1-a.Before)), a.Int(0)) // key of the last query
		rest = a.Max(plain, a.Min(rest, a.Sub(a.last, a.Div(a.Add(first, a.Sub(n, a.Int(1))), n))))
	}
	return plain, rest
}

// take waits until the keys of stage s are in shared memory, and until it is the group's turn to multiply.
func (a *attender) take(s stage, turn *kernel.Value) {
	a.Await(a.kFull, s.index, s.phase)
	if a.tile.Turns {
		a.Await(a.turns, a.group, turn)
	}
}

// multiplyKeys waits for the group's turn and starts the products of the group's queries and the keys of stage s.
// They give the scores.
func (a *attender) multiplyKeys(s stage, turn *kernel.Value) {
	a.take(s, turn)
	q := a.Mul(a.Add(a.Mul(a.queries.index, a.Int(a.tile.Groups)), a.group), a.Int(rowsOfGroup*a.columns))
	k := a.Mul(s.index, a.Int(a.tile.Keys*a.columns))
	for c := 0; c < a.Width; c += termsOfHeld {
		box, in := c/columnsOfBox, c%columnsOfBox
		x := kernel.Tile{Array: a.q, First: a.Add(q, a.Int(box*rowsOfGroup*columnsOfBox+in))}
		y := kernel.Tile{Array: a.k, First: a.Add(k, a.Int(box*a.tile.Keys*columnsOfBox+in))}
		a.MultiplyTiles(a.scores, x, y, a.Bool(c > 0))
	}
	a.Commit()
}

// termsOfHeld is the number of terms that one matrix instruction sums if the factors have 16 bits.
const termsOfHeld = 16

// multiplyValues starts the products of the weights and the values of stage s. They are added to the group's sums.
func (a *attender) multiplyValues(s stage, weights []*kernel.Value) {
	a.Await(a.vFull, s.index, s.phase)
	v := a.Mul(s.index, a.Int(a.tile.Keys*a.columns))
	for k := 0; k < a.tile.Keys; k += termsOfHeld {
		box, in := k/rowsOfGroup, k%rowsOfGroup
		y := kernel.Tile{Array: a.v, First: a.Add(v, a.Int(box*rowsOfGroup*a.columns+in*columnsOfBox)), Across: true}
		a.MultiplyHeld(a.sums, [4]*kernel.Value(weights[k/4:]), y, a.Bool(true))
	}
	a.Commit()
}

// store stores the rows of the result that belong to the group. A row is the sum of weighted values of a query,
// divided by the sum of its weights. The result of a query without keys is 0.
func (a *attender) store(r running) {
	for h, total := range a.softmax.totals(r) {
		share, at := a.softmax.share(total), a.Attending
		at.Query = a.softmax.rows[h]
		put := func() {
			for i := 2 * h; i < a.Width/2; i += 4 {
				a.together(a.Add(a.softmax.pair, a.Int(i/4*8)), 2, func(lane int, column *kernel.Value) {
					a.Attention.Store(a.Emitter, at, column, a.Mul(a.Sum(a.sums, i+lane), share))
				})
			}
		}
		if a.Queries%a.attention.queries == 0 {
			put()
		} else {
			a.Do(a.Lt(at.Query, a.Int(a.Queries)), put)
		}
		if a.StoreSum != nil {
			a.softmax.storeSum(r, h, total, a.StoreSum)
		}
	}
}

// pass gives the turn to the next group.
func (a *attender) pass() {
	if a.tile.Turns {
		next := a.Add(a.group, a.Int(1))
		next = a.Select(a.Eq(next, a.Int(a.tile.Groups)), a.Int(0), next)
		a.release(a.turns, next)
	}
}

// release lets one thread of the group arrive at barrier i.
func (a *attender) release(barriers, i *kernel.Value) {
	a.Do(a.leads, func() { a.Arrive(barriers, i, nil) })
}

// weigh calls [softmax.weigh] with the products of the group's queries and a tile of keys.
func (a *attender) weigh(r running, tile *kernel.Value, masked bool) (after running, weights []*kernel.Value, factors [2]*kernel.Value) {
	scores := make([]*kernel.Value, a.tile.Keys/2)
	for i := range scores {
		scores[i] = a.Sum(a.scores, i)
	}
	return a.softmax.weigh(r, scores, a.Mul(tile, a.Int(a.tile.Keys)), masked)
}
