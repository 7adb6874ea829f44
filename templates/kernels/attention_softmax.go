package kernels

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// softmax computes the softmax of two queries over keys, one tile of keys after the other. Four threads of a warp
// compute the two queries together. In each tile, a thread holds the scores of a quarter of the keys, in the layout
// of the sums of [kernel.MultiplyTiles]: score 4·j+2·h+c belongs to query rows[h] and to key 8·j+pair+c of the tile.
type softmax struct {
	*Emitter
	Attending
	rows          [2]*kernel.Value // the thread's queries
	pair          *kernel.Value    // its first key among 8
	queries, keys *kernel.Value    // extents
	past          *kernel.Value
	before, after int
	scale         float64
	excludes      bool // whether keys may be excluded
	change        func(e *Emitter, at Attending, score *kernel.Value) *kernel.Value
}

// place sets the thread's queries and its first key. The warp with index `warp` has the 16 queries from first +
// 16·warp on. lane is the index of the thread in its warp.
func (s *softmax) place(first, warp, lane *kernel.Value) {
	row := s.Add(s.Mul(warp, s.Int(16)), s.Div(lane, s.Int(4)))
	for h := range s.rows {
		s.rows[h] = s.Add(first, s.Add(row, s.Int(8*h)))
	}
	s.pair = s.Mul(s.Rem(lane, s.Int(4)), s.Int(2))
}

// running is the state of a [softmax]. For each of the thread's two queries it has the greatest score so far, top,
// and the sum of the weights of the thread's keys.
type running struct{ top, sum [2]*kernel.Value }

func (r running) list() []*kernel.Value {
	return []*kernel.Value{r.top[0], r.top[1], r.sum[0], r.sum[1]}
}

func runningOf(v []*kernel.Value) running {
	return running{[2]*kernel.Value{v[0], v[1]}, [2]*kernel.Value{v[2], v[3]}}
}

// scaled reports whether the scale is applied in the exponent. Otherwise scores are multiplied by the
// scale before.
func (s *softmax) scaled() bool { return s.change == nil && s.scale > 0 }

// start returns the state before the first keys. If sink is not nil, sink returns the score of an additional key,
// whose value is 0. Four threads compute the same query; only one of them counts the weight of the additional key.
func (s *softmax) start(sink func(e *Emitter, at Attending) *kernel.Value) (r running) {
	top, weight := s.Float(ir.F32, math.Inf(-1)), s.Float(ir.F32, 0)
	if sink != nil {
		top = sink(s.Emitter, s.Attending)
		if s.scaled() {
			top = s.Div(top, s.Float(ir.F32, s.scale))
		}
		weight = s.Select(s.Eq(s.pair, s.Int(0)), s.Float(ir.F32, 1), weight)
	}
	return running{[2]*kernel.Value{top, top}, [2]*kernel.Value{weight, weight}}
}

// weigh returns the weights of a tile of keys, exp(score − m), where m is the greatest score of the query so far. r
// is the state before the tile, and `after` the state after it. The tile may have raised m: the caller has to
// multiply the sums of weighted values of earlier tiles by factors[h], for query h. If masked is true, weigh excludes
// keys as mask does; `first` is the first key of the tile. weigh changes `scores`.
func (s *softmax) weigh(r running, scores []*kernel.Value, first *kernel.Value, masked bool) (after running, weights []*kernel.Value, factors [2]*kernel.Value) {
	scale := math.Log2E // of exponents of 2
	if s.scaled() {
		scale *= s.scale
	} else {
		for i := range scores {
			scores[i] = s.Mul(scores[i], s.Float(ir.F32, s.scale))
		}
	}
	if masked {
		s.mask(scores, first)
	}
	factor, zero := s.Float(ir.F32, scale), s.Float(ir.F32, 0)
	weights = make([]*kernel.Value, len(scores))
	for h := range 2 {
		after.top[h] = s.Greater(r.top[h], s.quad(overRow(scores, h, s.Greater), s.Greater))
		from := after.top[h]
		if s.excludes {
			from = s.Select(s.Eq(from, s.Float(ir.F32, math.Inf(-1))), zero, from) // a distance from −∞ is not a number
		}
		factors[h] = s.Exp2(s.Mul(s.Sub(r.top[h], from), factor))
		start := s.Neg(s.Mul(from, factor))
		for i := range scores {
			if i/2%2 == h {
				weights[i] = s.Exp2(s.Fma(scores[i], factor, start))
			}
		}
		after.sum[h] = s.Fma(r.sum[h], factors[h], overRow(weights, h, s.Add))
	}
	return after, weights, factors
}

// overRow combines the elements of row h, 0 or 1, into one element, with a function `join` such as the maximum.
// x[i] is an element of row i/2%2. It combines them in four independent chains, which a device can compute at the
// same time.
func overRow(x []*kernel.Value, h int, join func(x, y *kernel.Value) *kernel.Value) *kernel.Value {
	const chains = 4
	partial := make([]*kernel.Value, chains)
	n := 0
	for i, v := range x {
		if i/2%2 != h {
			continue
		}
		if p := &partial[n%chains]; *p == nil {
			*p = v
		} else {
			*p = join(*p, v)
		}
		n++
	}
	for ; len(partial) > 1; partial = partial[:len(partial)/2] {
		for i := range len(partial) / 2 {
			partial[i] = join(partial[i], partial[i+len(partial)/2])
		}
	}
	return partial[0]
}

// quad combines the values x of the four threads that compute the same two queries, and returns the result in each of
// them.
func (s *softmax) quad(x *kernel.Value, join func(x, y *kernel.Value) *kernel.Value) *kernel.Value {
	for _, n := range []int{1, 2} {
		x = join(x, s.Shuffle(x, n))
	}
	return x
}

// mask replaces the scores of excluded keys by −∞. If s.change is not nil, it replaces the other scores by its
// results. `first` is the first key of the tile.
func (s *softmax) mask(scores []*kernel.Value, first *kernel.Value) {
	none := s.Float(ir.F32, math.Inf(-1))
	own := s.Add(first, s.pair) // key of score 0
	for h := range 2 {
		position := s.Add(s.rows[h], s.past)
		end := s.keys
		if s.after >= 0 {
			end = s.Min(end, s.Add(position, s.Int(s.after+1)))
		}
		end = s.Sub(end, own)
		begin := s.Sub(s.Sub(position, s.Int(s.before)), own)
		for i := range scores {
			if i/2%2 != h {
				continue
			}
			place := s.Int(i/4*8 + i%2) // from own on
			attends := s.Lt(place, end)
			if s.before >= 0 {
				attends = s.And(attends, s.Ge(place, begin))
			}
			score := scores[i]
			if s.change == nil {
				scores[i] = s.Select(attends, score, none)
				continue
			}
			at := s.Attending
			at.Query, at.Key = s.rows[h], s.Add(own, place)
			scores[i] = s.If(s.And(attends, s.Lt(at.Query, s.queries)), func() []*kernel.Value {
				return []*kernel.Value{s.change(s.Emitter, at, score)}
			}, func() []*kernel.Value { return []*kernel.Value{none} })[0]
		}
	}
}

// totals returns the sums of the weights of both rows.
func (s *softmax) totals(r running) [2]*kernel.Value {
	return [2]*kernel.Value{s.quad(r.sum[0], s.Add), s.quad(r.sum[1], s.Add)}
}

// share returns the factor for the sums of weighted values of a row: 1 divided by total, the sum of its weights, or 0
// without keys.
func (s *softmax) share(total *kernel.Value) *kernel.Value {
	zero := s.Float(ir.F32, 0)
	return s.Select(s.Eq(total, zero), zero, s.Div(s.Float(ir.F32, 1), total))
}

// storeSum calls the function `store` for row h: with its greatest score, and with total, the sum of the row's
// weights. One of the four threads that share the row calls `store`.
func (s *softmax) storeSum(r running, h int, total *kernel.Value, store func(e *Emitter, at Attending, top, total *kernel.Value)) {
	s.Do(s.And(s.Eq(s.pair, s.Int(0)), s.Lt(s.rows[h], s.queries)), func() {
		top := r.top[h]
		if s.scaled() {
			top = s.Mul(top, s.Float(ir.F32, s.scale))
		}
		at := s.Attending
		at.Query = s.rows[h]
		store(s.Emitter, at, top, total)
	})
}
