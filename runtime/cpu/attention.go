package cpu

import (
	"context"
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

// AttentionShape describes an [Attention].
type AttentionShape struct {
	Batch, Heads  int
	Shared        int // heads of keys and values; each serves Heads/Shared heads of queries
	Queries, Keys int
	Depth, Width  int // elements of a query or key, and elements of a value or result

	// These are the positions of queries, keys, values and results: the offset of the first
	// element, and the strides of batch, heads and rows. The elements of a row are adjacent.
	Q, K, V, Y [4]int

	Scale   float32
	Softcap float32 // bound of the scores; 0 means no bound

	// Query i is at position Past + i and attends to the keys from Before positions before to After
	// positions after it. A negative number means all.
	Past          int
	Before, After int

	// Mask holds the strides of a mask along batch, heads, queries and keys. The stride of a
	// broadcast axis is 0.
	Mask [4]int
	// Ctx ends the call early; may be nil. See Until.
	Ctx context.Context
}

// AttentionMask holds the optional operands of an [Attention]: all operands except queries, keys
// and values.
type AttentionMask struct {
	Lengths []int64   // number of valid keys, for each element of the batch
	Starts  []int64   // added to Past, for each element of the batch
	Sinks   []float32 // for each head, the score of one more key whose value is zero
	Add     []float32 // added to the scores; AttentionShape.Mask has its strides
	Allow   []bool    // false where a query does not attend to a key; AttentionShape.Mask has its strides
}

// AttentionScratch returns the number of scratch elements that [Attention] needs for each part that
// it computes concurrently. keys is the number of keys. depth is the number of elements of a key,
// and width the number of elements of a value.
func AttentionScratch(keys, depth, width int) int {
	most := min(ceil(max(keys, 0), 16)*16, keyBlock)
	return maxRows*(depth+16) + maxRows*(most+16) + most*depth + most*ceil(width, 16)*16
}

// These are the numbers of queries and of keys that are processed at a time.
const (
	queryBlock = 128
	keyBlock   = 256 // keys and values in panels that share a second-level cache
)

// Attention computes, for every head and query,
//
//	score[j] = cap(Scale·(query · key[j])) + mask[j]
//	dst      = Σ exp(score[j])·value[j] / Σ exp(score[j])
//
// The sums go over the keys that the query attends to. cap(x) is Softcap·tanh(x/Softcap) (ONNX
// Attention). The result for a query without keys is 0. Attention keeps only the scores of a few
// queries and a block of keys in memory. dst must not overlap an operand.
//
// Attention computes several parts concurrently, but at most len(scratch) divided by
// [AttentionScratch]. It panics if scratch is too short for one part.
func Attention(dst, q, k, v, scratch []float32, s *AttentionShape, mask *AttentionMask) {
	if min(s.Batch, s.Heads, s.Queries, s.Width) <= 0 {
		return
	}
	if s.Shared <= 0 || s.Heads%s.Shared != 0 || min(s.Keys, s.Depth) < 0 {
		panic("cpu: heads of an attention that do not share keys evenly, or a negative extent")
	}
	p := attention{AttentionShape: *s, dst: dst, q: q, k: k, v: v}
	if mask != nil {
		p.AttentionMask = *mask
	}
	p.check()
	p.plan()
	each := AttentionScratch(s.Keys, s.Depth, s.Width)
	most := len(scratch) / max(each, 1)
	if most == 0 {
		panic("cpu: an attention without scratch memory")
	}
	p.scratch, p.each = scratch, each
	work := int64(p.units) * int64(p.rows) * int64(s.Keys) * int64(s.Depth+s.Width)
	parts := min(partsFor(work, 4*int64(s.Keys*(s.Depth+s.Width)*s.Batch*s.Shared)), most, p.units)
	rt.EndIfDone(s.Ctx)
	if !attentions.run(&p, parts) {
		p.Part(0, 1)
	}
	rt.EndIfDone(s.Ctx)
}

type attention struct {
	AttentionShape
	AttentionMask
	dst, q, k, v, scratch []float32

	each int // elements of scratch for each part
	// Queries are processed in series of rows, one for each group of heads that share keys. With a
	// single query the rows are the heads.
	series, rows, blocks int
	units                int // series in blocks of rows, for all groups
	step                 int // distance in positions between rows
}

var attentions slot[attention, *attention]

// check panics unless the operands are long enough for the shape. It also panics if a distance is
// negative.
func (p *attention) check() {
	for _, x := range [...]struct {
		s                      []float32
		at                     *[4]int
		heads, rows, neighbour int
	}{
		{p.q, &p.Q, p.Heads, p.Queries, p.Depth}, {p.k, &p.K, p.Shared, p.Keys, p.Depth},
		{p.v, &p.V, p.Shared, p.Keys, p.Width}, {p.dst, &p.Y, p.Heads, p.Queries, p.Width},
	} {
		if min(x.at[0], x.at[1], x.at[2], x.at[3]) < 0 {
			panic("cpu: an attention of negative distances")
		}
		if x.rows > 0 {
			_ = x.s[:x.at[0]+volume(p.Batch-1, x.at[1])+volume(x.heads-1, x.at[2])+volume(x.rows-1, x.at[3])+x.neighbour]
		}
	}
	m := &p.Mask
	if min(m[0], m[1], m[2], m[3]) < 0 {
		panic("cpu: an attention of negative distances")
	}
	if p.Keys > 0 {
		n := volume(p.Batch-1, m[0]) + volume(p.Heads-1, m[1]) + volume(p.Queries-1, m[2]) + volume(p.Keys-1, m[3]) + 1
		if p.Add != nil {
			_ = p.Add[:n]
		}
		if p.Allow != nil {
			_ = p.Allow[:n]
		}
	}
	if p.Lengths != nil {
		_ = p.Lengths[:p.Batch]
	}
	if p.Starts != nil {
		_ = p.Starts[:p.Batch]
	}
	if p.Sinks != nil {
		_ = p.Sinks[:p.Heads]
	}
}

// plan divides the work into units. A unit is a block of queries of one head. If there is only one
// query, a unit is a block of heads that share keys and values.
func (p *attention) plan() {
	p.series, p.rows, p.step = p.Heads/p.Shared, p.Queries, 1
	if p.Queries == 1 {
		p.series, p.rows, p.step = 1, p.series, 0
	}
	p.blocks = ceil(p.rows, queryBlock)
	p.units = p.Batch * p.Shared * p.series * p.blocks
}

// Part implements [rt.Task]. It computes part i of `parts` of the units; see plan.
func (p *attention) Part(i, parts int) {
	w := attending{attention: *p, packed: -1}
	scratch := p.scratch[i*p.each:][:p.each]
	take := func(n int) []float32 {
		s := scratch[:n]
		scratch = scratch[n:]
		return s
	}
	most := min(ceil(p.Keys, 16)*16, keyBlock)
	w.ldq, w.lds = p.Depth+16, most+16
	w.query, w.scores = take(maxRows*w.ldq), take(maxRows*w.lds)
	w.keys, w.values = take(most*p.Depth), take(most*ceil(p.Width, 16)*16)
	from, to := portion(p.units, i, parts)
	for u := from; u < to && rt.Done(p.Ctx) == nil; u++ {
		w.unit(u)
	}
}

// attending is the state of one part of an attention. The slices are its scratch memory.
type attending struct {
	attention
	query, scores, keys, values []float32
	ldq, lds                    int // distance between rows of query and scores in elements

	packed, packedFrom int // group whose keys are in panels, and the first of these keys; −1 if there is none
	batch, group, head int // of the unit
	first              int // row of the unit
	positions          int // position of the first row
	limit              int // valid keys of the batch element

	tops, sums, factors [queryBlock]float32 // of the unit's rows
	started             [queryBlock]bool    // tiles that have a result
}

// unit computes the results of unit u of [attention.plan].
func (w *attending) unit(u int) {
	series := u / w.blocks % w.series
	group := u / w.blocks / w.series
	w.batch, w.group = group/w.Shared, group%w.Shared
	w.head = w.group*(w.Heads/w.Shared) + series
	w.first = u % w.blocks * queryBlock
	rows := split(min(queryBlock, w.rows-w.first), w.tileRows())

	w.limit, w.positions = w.Keys, w.Past+w.first*w.step
	if w.Lengths != nil {
		w.limit = int(min(max(w.Lengths[w.batch], 0), int64(w.Keys)))
	}
	if w.Starts != nil {
		const far = math.MaxInt32
		w.positions += int(min(max(w.Starts[w.batch], -far), far))
	}
	w.start(rows.at(rows.tiles))
	for j := 0; j < w.limit; j += keyBlock {
		n := min(keyBlock, w.limit-j)
		from, to := w.window(0, rows.at(rows.tiles)-1)
		if from >= j+n || to <= j {
			continue
		}
		w.pack(group, j, n)
		for t := range rows.tiles {
			w.tile(j, n, rows, t)
		}
	}
	w.finish(rows)
}

func (w *attending) tileRows() int {
	rows, _ := tileLimits()
	return rows
}

// start sets the running maximum and sum of each row of scores to their values before the first
// key. A head may have a sink, the score of one more key whose value is zero. The sink is then the
// maximum, and it counts 1 in the sum.
func (w *attending) start(rows int) {
	clear(w.started[:])
	for r := range rows {
		w.tops[r], w.sums[r] = -math.MaxFloat32, 0
		if w.Sinks == nil {
			continue
		}
		head := w.head
		if w.step == 0 {
			head += w.first + r
		}
		if sink := w.Sinks[head]; !(sink <= -math.MaxFloat32) {
			w.tops[r], w.sums[r] = sink, 1
		}
	}
}

// window returns a range [first, end) of keys. It contains all keys to which the unit's rows `from`
// to `to`, both included, attend.
func (w *attending) window(from, to int) (first, end int) {
	first, end = 0, w.limit
	if w.Before >= 0 {
		first = min(max(w.positions+from*w.step-w.Before, 0), w.limit)
	}
	if w.After >= 0 {
		end = min(max(w.positions+to*w.step+w.After+1, 0), w.limit)
	}
	return first, end
}

// pack packs keys [j, j+n) of a group of heads into panels, unless they are packed already. It also
// packs the values of these keys if several tiles read them, or if the width of a value is not a
// multiple of 16.
func (w *attending) pack(group, j, n int) {
	if w.packed == group && w.packedFrom == j {
		return
	}
	w.packed, w.packedFrom = group, j
	k := w.k[w.K[0]+w.batch*w.K[1]+w.group*w.K[2]+j*w.K[3]:]
	for i := 0; i < n; i += 16 {
		panel, width := w.keys[i*w.Depth:][:16*w.Depth], min(16, n-i)
		if width < 16 {
			clear(panel)
		}
		transpose(panel, k[i*w.K[3]:], width, w.Depth, 16, w.K[3])
	}
	if !w.packsValues() {
		return
	}
	v := w.v[w.V[0]+w.batch*w.V[1]+w.group*w.V[2]+j*w.V[3]:]
	for i := 0; i < w.Width; i += 16 {
		packRows(w.values[i*n:][:16*n], v[i:], min(16, w.Width-i), n, w.V[3])
	}
}

// packsValues reports whether values are read from panels.
func (w *attending) packsValues() bool {
	return w.Width%16 != 0 || w.rows > w.tileRows() || w.series > 1
}

// tile processes keys [j, j+n) for the rows of tile i in `split`. It computes their scores, and
// adds their contribution to the results.
func (w *attending) tile(j, n int, split rowSplit, i int) {
	row, rows := split.at(i), split.high(i)
	from, to := w.window(row, row+rows-1)
	from, to = max(from-j, 0)&^15, min(to-j, n)
	if from >= to {
		return
	}
	count := to - from
	w.score(row, rows, from, count)
	scores := w.scores[:(rows-1)*w.lds+count]
	for r := range rows {
		w.mask(scores[r*w.lds:][:count], row+r, j+from)
	}
	tops, sums, factors := w.tops[row:][:rows], w.sums[row:][:rows], w.factors[row:][:rows]
	attendRows(scores, rows, count, w.lds, tops, sums, factors)
	y := w.result(row)
	if w.started[i] {
		for r, f := range factors {
			if f != 1 {
				to := y[r*w.rowOf(&w.Y):][:w.Width]
				MulScalar(to, to, f)
			}
		}
	}

	var t tile
	t.a, t.rowA, t.run = start(scores), 4*w.lds, count
	t.c, t.rowC, t.panelC = start(y), 4*w.rowOf(&w.Y), 64
	if w.started[i] {
		t.residual = t.c
	}
	w.started[i] = true
	t.n = [3]int{1, 1, 1}
	if w.packsValues() {
		t.b, t.panelB, t.atB = start(w.values), 64*n, 64*from
	} else {
		v := w.v[w.V[0]+w.batch*w.V[1]+w.group*w.V[2]+(j+from)*w.V[3]:]
		t.b, t.panelB, t.gapB = start(v), 64, 4*w.V[3]-64
	}
	t.across(rows, w.Width/16)
	if last := w.Width % 16; last > 0 {
		t.panels = 1
		t.coverPart(rowSplit{rows, 1, 0}, 0, 1, last)
	}
}

// score computes the scores of `count` keys for the unit's rows [row, row+rows). In the panels, the
// keys begin at index `first`.
func (w *attending) score(row, rows, first, count int) {
	q, distance := w.q[w.place(&w.Q, row):], w.rowOf(&w.Q)
	for r := range rows {
		MulScalar(w.query[r*w.ldq:][:w.Depth], q[r*distance:], w.Scale)
	}
	var t tile
	t.a, t.rowA, t.run = start(w.query), 4*w.ldq, w.Depth
	t.b, t.panelB, t.atB = start(w.keys), 64*w.Depth, 4*first*w.Depth
	t.c, t.rowC, t.panelC = start(w.scores), 4*w.lds, 64
	t.n = [3]int{1, 1, 1}
	t.across(rows, ceil(count, 16))
}

// rowOf returns the distance between adjacent rows of the unit, in elements. layout holds an
// offset, and the strides of batch, heads and positions.
func (w *attending) rowOf(layout *[4]int) int {
	if w.step == 0 {
		return layout[2]
	}
	return layout[3]
}

// place returns the offset of a row of the unit, in elements. layout holds an offset, and the
// strides of batch, heads and positions.
func (w *attending) place(layout *[4]int, row int) int {
	return layout[0] + w.batch*layout[1] + w.head*layout[2] + (w.first+row)*w.rowOf(layout)
}

func (w *attending) result(row int) []float32 { return w.dst[w.place(&w.Y, row):] }

// mask applies the softcap and the mask to the scores of one row of the unit. Scores of keys
// outside of the window become −Inf. scores[0] belongs to key j.
func (w *attending) mask(scores []float32, row, j int) {
	if w.Softcap != 0 {
		DivScalar(scores, scores, w.Softcap)
		Tanh(scores, scores)
		MulScalar(scores, scores, w.Softcap)
	}
	if w.Add != nil || w.Allow != nil {
		m := [4]int{0, w.Mask[0], w.Mask[1], w.Mask[2]}
		w.addMask(scores, w.place(&m, row)+j*w.Mask[3])
	}
	from, to := w.window(row, row)
	least := float32(math.Inf(-1))
	if from > j {
		Fill(scores[:min(from-j, len(scores))], least)
	}
	if to-j < len(scores) {
		Fill(scores[max(to-j, 0):], least)
	}
}

// addMask applies Add and Allow to the scores of one query. The element of the mask for scores[0]
// has index `start`.
func (w *attending) addMask(scores []float32, start int) {
	switch distance := w.Mask[3]; {
	case w.Add != nil && distance == 0:
		AddScalar(scores, scores, w.Add[start])
	case w.Add != nil && distance == 1:
		Add(scores, scores, w.Add[start:][:len(scores)])
	case w.Add != nil:
		for i := range scores {
			scores[i] += w.Add[start+i*distance]
		}
	}
	if w.Allow == nil {
		return
	}
	for i := range scores {
		if !w.Allow[start+i*w.Mask[3]] {
			scores[i] = float32(math.Inf(-1))
		}
	}
}

// finish divides the results of the rows in `split` by their sums of exponentials.
func (w *attending) finish(split rowSplit) {
	for i := range split.tiles {
		row := split.at(i)
		y := w.result(row)
		for r := range split.high(i) {
			to, sum := y[r*w.rowOf(&w.Y):][:w.Width], w.sums[row+r]
			switch {
			case !w.started[i] || sum == 0:
				clear(to)
			default:
				MulScalar(to, to, 1/sum)
			}
		}
	}
}
