package kernels

import "github.com/burngen/burngen/ir/kernel"

// headTiles says in which order blocks compute the tiles of heads.
type headTiles struct {
	heads  int // of all batch elements
	each   int // number of tiles of a head
	blocks int // greatest number of blocks
	// uneven says that the tiles of a head take different times: the last ones the longest, or the first ones if
	// firstLongest is set.
	uneven, firstLongest bool
	// pairs lets blocks compute two tiles of a head, a short and a long one, if there are fewer blocks than tiles.
	pairs bool
	// atOnce is the number of heads that uneven tiles are computed of at the same time. It divides heads.
	atOnce int
}

// headsAtOnce returns the greatest divisor of heads that is at most `most`, or 1.
func headsAtOnce(heads, most int) int {
	n := max(min(heads, most), 1)
	for heads%n != 0 {
		n--
	}
	return n
}

// paired reports whether blocks compute pairs of tiles.
func (o headTiles) paired() bool { return o.uneven && o.pairs && o.blocks < o.heads*o.each }

// pairsOf returns the number of pairs of tiles of all heads. The first and the last tile of a head are a pair, the
// second and the last but one, and so on. If the number of tiles is odd, the middle tile counts as a pair.
func (o headTiles) pairsOf() int { return o.heads * ((o.each + 1) / 2) }

// gridOf returns the number of blocks.
func (o headTiles) gridOf() int {
	if o.paired() {
		return min(o.pairsOf(), o.blocks)
	}
	return min(o.heads*o.each, o.blocks)
}

// eachTile calls do for each tile that the block computes. head counts the heads of all batch elements, and row the
// tiles of a head. The first call gets carried, and each later call gets the values that the call before returned.
// If tiles are uneven and not paired, the tiles that take longest come first.
func (o headTiles) eachTile(e *Emitter, carried []*kernel.Value, do func(head, row *kernel.Value, carried []*kernel.Value) []*kernel.Value) {
	one, blocks := e.Int(1), e.Int(o.gridOf())
	if o.paired() {
		each := (o.each + 1) / 2 // pairs of a head
		e.ForUnrolled(1, e.BlockIdx(0), e.Int(o.pairsOf()), blocks, carried, func(pair *kernel.Value, carried []*kernel.Value) []*kernel.Value {
			head, i := e.Div(pair, e.Int(each)), e.Rem(pair, e.Int(each))
			other := e.Sub(e.Int(o.each-1), i)
			tiles := e.Select(e.Eq(i, other), one, e.Int(2))
			return e.ForUnrolled(1, e.Int(0), tiles, one, carried, func(second *kernel.Value, carried []*kernel.Value) []*kernel.Value {
				return do(head, e.Select(e.Eq(second, one), i, other), carried)
			})
		})
		return
	}
	e.ForUnrolled(1, e.BlockIdx(0), e.Int(o.heads*o.each), blocks, carried, func(tile *kernel.Value, carried []*kernel.Value) []*kernel.Value {
		head, row := e.Div(tile, e.Int(o.each)), e.Rem(tile, e.Int(o.each))
		if o.uneven {
			some := e.Int(o.atOnce * o.each)
			inside := e.Rem(tile, some)
			head = e.Add(e.Mul(e.Div(tile, some), e.Int(o.atOnce)), e.Rem(inside, e.Int(o.atOnce)))
			row = e.Div(inside, e.Int(o.atOnce))
			if !o.firstLongest {
				row = e.Sub(e.Int(o.each-1), row)
			}
		}
		return do(head, row, carried)
	})
}
