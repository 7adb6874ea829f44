package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Scan describes what [PrefixSums] computes.
type Scan struct {
	// Rows is the number of rows, and Length the number of elements of each.
	Rows, Length dim.Dim
	// DType is the type of the sums.
	DType ir.DType
	// Term returns an element of a row. It is called more than once for each element.
	Term func(e *Emitter, row, i *kernel.Value) *kernel.Value
	// Store stores the sum of the elements of a row up to and including element i.
	Store func(e *Emitter, row, i, sum *kernel.Value)
}

// scanEach is the number of adjacent elements that a thread adds up, and scanTile the number that a
// block adds up.
const (
	scanEach = 8
	scanTile = Threads * scanEach
)

// PrefixSums returns the launches of kernels that compute running sums: for each element of each
// row, the sum of the elements up to it. The order of additions depends only on the number of
// elements. Rows are divided into tiles. The first kernel computes the sum of each tile. The second
// computes for each tile the sum of all tiles before it. The third adds to this sum, for each
// element of the tile, the elements up to it, and stores the result. If rows are known to have at
// most one tile, the third is enough.
func PrefixSums(name string, s Scan) ([]Launch, error) {
	tiles := s.Length.CeilDiv(dim.Const(scanTile))
	if n, ok := tiles.Int(); ok && n <= 1 {
		tiles = dim.Const(1)
	}
	c := scan{s, tiles, &Scratch{DType: s.DType, Shape: []dim.Dim{s.Rows, tiles}}}
	sums, err := c.kernel(name, c.storeSums)
	if n, ok := tiles.Int(); ok && n == 1 || err != nil {
		return []Launch{sums}, err
	}
	parts, err := c.kernel(name+"_tiles", c.storeTile)
	if err != nil {
		return nil, err
	}
	offsets, err := c.offsets(name + "_offsets")
	return []Launch{parts, offsets, sums}, err
}

type scan struct {
	Scan
	tiles dim.Dim  // number of tiles of a row
	parts *Scratch // sum of each tile, later of all tiles before it
}

// kernel returns the [Launch] of a kernel with a block for each tile. Each thread of the block adds
// up its elements and calls `store`. `before` is the sum of the elements of the tile that precede
// the thread's own, and `total` the sum of the whole tile.
func (c scan) kernel(name string, store func(e *Emitter, row, tile, before, total *kernel.Value)) (Launch, error) {
	return Grid(name, []dim.Dim{c.tiles, c.Rows}, []int{Threads}, func(e *Emitter) func([]*kernel.Value) {
		shared := e.Shared("s", c.DType, Threads)
		return func(at []*kernel.Value) {
			own := c.each(e, at[1], at[0], e.Number(c.DType, 0), nil)
			before, sum := e.sumsBefore(shared, own)
			store(e, at[1], at[0], before, sum)
		}
	})
}

// each adds the elements of a thread in a tile of a row to `sum`, one after the other, and returns
// the result. If `store` is not nil, it is called for each element. Its arguments are the index of
// the element and the sum, which includes the element.
func (c scan) each(e *Emitter, row, tile, sum *kernel.Value, store func(i, sum *kernel.Value)) *kernel.Value {
	first := e.Add(e.Mul(tile, e.Int(scanTile)), e.Mul(e.Thread(0), e.Int(scanEach)))
	count := e.Min(e.Sub(e.Dim(c.Length), first), e.Int(scanEach))
	return e.Times(count, []*kernel.Value{sum}, func(k *kernel.Value, sums []*kernel.Value) []*kernel.Value {
		i := e.Add(first, k)
		sum := e.Add(sums[0], c.Term(e, row, i))
		if store != nil {
			store(i, sum)
		}
		return []*kernel.Value{sum}
	})[0]
}

func (c scan) storeTile(e *Emitter, row, tile, _, total *kernel.Value) {
	e.Do(e.Eq(e.Thread(0), e.Int(0)), func() { e.Scratch(c.parts).Set(e.Add(e.Mul(row, e.Dim(c.tiles)), tile), total) })
}

// storeSums stores the running sums of the elements of a tile. `before` is the sum of the elements
// of the tile that precede the thread's own.
func (c scan) storeSums(e *Emitter, row, tile, before, _ *kernel.Value) {
	if n, ok := c.tiles.Int(); !ok || n > 1 {
		before = e.Add(e.Scratch(c.parts).At(row, tile), before)
	}
	c.each(e, row, tile, before, func(i, sum *kernel.Value) { c.Store(e, row, i, sum) })
}

// offsets returns the [Launch] of a kernel with a block for each row. In scratch memory, it
// replaces the sum of each tile of the row by the sum of all tiles before it.
func (c scan) offsets(name string) (Launch, error) {
	return Rows(name, c.Rows, c.tiles, func(r *Row) {
		shared := r.Builder.Shared("s", c.DType, r.BlockSize(0))
		parts, first := r.Scratch(c.parts), r.Mul(r.Index, r.Length)
		r.For(r.Int(0), r.Length, r.Int(r.BlockSize(0)), []*kernel.Value{r.Number(c.DType, 0)}, func(from *kernel.Value, sums []*kernel.Value) []*kernel.Value {
			i := r.Add(from, r.Thread(0))
			exists, at := r.Lt(i, r.Length), r.Add(first, i)
			own := r.If(exists, func() []*kernel.Value { return []*kernel.Value{parts.Get(at)} },
				func() []*kernel.Value { return []*kernel.Value{r.Number(c.DType, 0)} })[0]
			before, total := r.sumsBefore(shared, own)
			r.Do(exists, func() { parts.Set(at, r.Add(sums[0], before)) })
			return []*kernel.Value{r.Add(sums[0], total)}
		})
	})
}

// sumsBefore returns two sums of `own`, a value of each thread: the sum over the threads of the
// block with a smaller index, and the sum over all threads. shared is an array with an element for
// each thread. The array may be used again afterwards.
func (e *Emitter) sumsBefore(shared, own *kernel.Value) (before, total *kernel.Value) {
	thread, zero := e.Thread(0), e.Number(own.Type.DType, 0)
	earlier := func(distance int) *kernel.Value {
		return e.If(e.Ge(thread, e.Int(distance)), func() []*kernel.Value {
			return []*kernel.Value{e.Load(shared, e.Sub(thread, e.Int(distance)))}
		}, func() []*kernel.Value { return []*kernel.Value{zero} })[0]
	}
	e.Store(shared, thread, own)
	e.Barrier()
	for distance := 1; distance < e.BlockSize(0); distance *= 2 {
		own = e.Add(earlier(distance), own)
		e.Barrier()
		e.Store(shared, thread, own)
		e.Barrier()
	}
	before, total = earlier(1), e.Load(shared, e.Int(e.BlockSize(0)-1))
	e.Barrier()
	return before, total
}
