package kernels

import (
	"math"
	"math/bits"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Order describes what [Sort] sorts.
type Order struct {
	// Length is the number of elements.
	Length dim.Dim
	// Less reports whether element i is less than element j. Elements that are not less than each other
	// are equal, and keep their order.
	Less func(e *Emitter, i, j *kernel.Value) *kernel.Value
	// Store stores i as the index of the element at place in the ascending order.
	Store func(e *Emitter, place, i *kernel.Value)
	// Tile is the number of neighbours that are sorted by comparing each with every other. It is a power
	// of two, and small if comparisons are long.
	Tile int
}

// maxLength is the largest number of elements of a tensor: indices are i32.
const maxLength = math.MaxInt32

// Sort returns the launches of kernels that sort elements. The first one sorts tiles. Each of the
// following [Rounds] merges pairs of neighbouring sorted runs: a thread moves one element, and finds how
// many elements of the other run come before it. The last launch calls Store. If the length is not
// constant, there are enough rounds for the largest tensor. In a round with only one run left, the
// kernel copies the order.
func Sort(name string, o Order) ([]Launch, error) {
	length := maxLength
	if n, ok := o.Length.Int(); ok {
		length = n
	}
	count := bits.Len(uint(max(length-1, 0) / o.Tile))
	s := sorting{o, &Scratch{DType: ir.I32, Shape: []dim.Dim{dim.Const(2), o.Length}}}
	tiles, err := Map(name+"_tiles", []dim.Dim{o.Length}, func(e *Emitter, _ []*kernel.Value, i *kernel.Value) { s.rank(e, i) })
	if err != nil {
		return nil, err
	}
	merges, err := (&Rounds{Count: dim.Const(count)}).Repeat(oneLaunch(Map(name+"_merge", []dim.Dim{o.Length}, func(e *Emitter, _ []*kernel.Value, i *kernel.Value) { s.merge(e, i) })))
	if err != nil {
		return nil, err
	}
	store, err := Map(name, []dim.Dim{o.Length}, func(e *Emitter, _ []*kernel.Value, i *kernel.Value) {
		o.Store(e, i, e.Scratch(s.order).At(e.Int(count%2), i))
	})
	launches := []Launch{tiles}
	if count > 0 {
		launches = append(launches, merges...)
	}
	return append(launches, store), err
}

func oneLaunch(l Launch, err error) ([]Launch, error) { return []Launch{l}, err }

type sorting struct {
	Order
	// [2,Length] of i32, indices of elements in order. Each round reads one half and writes the
	// other.
	order *Scratch
}

// before reports whether element i comes before element j. If the elements are equal, the one with the
// smaller index comes first.
func (s sorting) before(e *Emitter, i, j *kernel.Value) *kernel.Value {
	swap := e.Gt(i, j) // an equal element comes before one with a greater index
	less := s.Less(e, e.Select(swap, i, j), e.Select(swap, j, i))
	return e.Eq(less, swap)
}

// rank finds the place of element i in its tile: the number of elements of the tile that come before it.
// It stores i at this place of the tile's order.
func (s sorting) rank(e *Emitter, i *kernel.Value) {
	first := e.And(i, e.Int(-s.Tile))
	count := e.Min(e.Int(s.Tile), e.Sub(e.Dim(s.Length), first))
	rank := e.Times(count, []*kernel.Value{e.Int(0)}, func(k *kernel.Value, rank []*kernel.Value) []*kernel.Value {
		j := e.Add(first, k)
		comes := e.If(e.Ne(i, j), func() []*kernel.Value { return []*kernel.Value{s.before(e, j, i)} },
			func() []*kernel.Value { return []*kernel.Value{e.Bool(false)} })[0]
		return []*kernel.Value{e.Add(rank[0], e.Convert(ir.I32, comes))}
	})[0]
	e.Scratch(s.order).Set(e.Add(first, rank), i)
}

// merge moves one element in the order of elements. `place` is its place before this round; merge
// computes its place after it. Round r merges pairs of neighbouring runs; a run has Tile·2ʳ sorted
// elements.
func (s sorting) merge(e *Emitter, place *kernel.Value) {
	n, order := e.Dim(s.Length), e.Scratch(s.order)
	side := e.And(e.Round(), e.Int(1))
	at := func(side, place *kernel.Value) *kernel.Value { return order.Offset([]*kernel.Value{side, place}) }
	width := e.Binary(kernel.Shl, e.Int(s.Tile), e.Round())
	run := e.And(place, e.Neg(width)) // the first place of the element's run
	other := e.Min(n, e.Binary(kernel.Xor, run, width))
	own := order.Get(at(side, place))
	// The elements of the other run that come before this element are at the first places of that
	// run.
	bounds := []*kernel.Value{e.Int(0), e.Min(width, e.Sub(n, other))}
	count := e.While(bounds, func(b []*kernel.Value) *kernel.Value { return e.Lt(b[0], b[1]) }, func(b []*kernel.Value) []*kernel.Value {
		middle := e.Add(b[0], e.Div(e.Sub(b[1], b[0]), e.Int(2)))
		comes := s.before(e, order.Get(at(side, e.Add(other, middle))), own)
		return []*kernel.Value{e.Select(comes, e.Add(middle, e.Int(1)), b[0]), e.Select(comes, b[1], middle)}
	})[0]
	order.Set(at(e.Sub(e.Int(1), side), e.Add(e.Sub(place, e.And(run, width)), count)), own)
}
