package cpu

import "unsafe"

// tile describes output tiles for a tile kernel; all tiles of a call have the same size. A tile has
// `rows` rows, which are pixels or rows of a matrix, and 16·panels columns. A sum goes over three
// nested loops. Each iteration goes over a run, which is several elements of a. Each element is
// multiplied by the next row of b. Distances are in bytes.
type tile struct {
	a        unsafe.Pointer
	b        unsafe.Pointer // panels, 16 columns for each element of the sum
	c        unsafe.Pointer // the result
	bias     unsafe.Pointer // 16 numbers for each panel, or one for each row, or nil
	residual unsafe.Pointer // laid out as c, or nil

	// Start of the first tile; atC is for residual too.
	atA, atB, atC, atBias int

	rows, panels int    // at most the level's limits
	rowA         int    // from a row to the next
	panelB       int    // from a panel to the next
	gapB         int    // distance between rows of a panel minus its 16 numbers, 0 in panels
	atNext       int    // position in b of the panels that are read next
	fetch        int    // bytes to prefetch of each of them for two elements of a run; 0 if b is in a near cache
	rowC         int    // from a row to the next
	panelC       int    // distance between the columns of adjacent panels
	run          int    // elements of a run
	apart        int    // distance between elements in a nest of one run in bytes, 0 if they are adjacent
	n            [3]int // iterations of the inner, middle and outer loop, at least one
	gap          [3]int // distance from the end of a run to the next run of that loop
	skipB        [3]int // bytes of b to skip after each repetition
	count        int    // tiles of a round, at least one
	rounds       int    // of count tiles; 0 is 1, too
	// These are the distances between tiles, and the distances from the last tile of a round to the
	// first of the next round, in the same order.
	nextA, nextB, nextC, nextBias     int
	roundA, roundB, roundC, roundBias int

	byRow  int // 1 where bias has a number for each row, else 0
	clamp  int // 1 to clamp to lo…hi, else 0
	lo, hi float32
	scale  float32 // factor of a sum of a window

	// A tile of bytes, see byteTileRef, has columns; bias holds the sums of its rows then.
	columns *byteColumns
	kind    int
	last    int32 // zero point, which is added to requantised sums
}

// maxRows is the maximum number of rows of a tile at any level, and maxPanels the maximum number of
// panels.
const (
	maxRows   = 14
	maxPanels = 2
)

// tileLimits returns the numbers of rows and panels of the largest tile at [CurrentLevel].
func tileLimits() (rows, panels int) {
	switch level {
	case AVX512:
		return 14, 2
	case AVX2, NEON:
		return 6, 1
	case SIMD128:
		return 2, 1
	}
	return 8, 1
}

// loops sets the three nested loops, innermost first. Loop i has n[i] iterations, and each moves
// step[i] bytes in a. Each iteration of the innermost loop goes over `run` adjacent elements.
func (t *tile) loops(run int, n, step [3]int) {
	t.run, t.apart, t.n = run, 0, n
	end := 4 * run
	for i := range n {
		t.gap[i] = step[i] - end
		end += (n[i] - 1) * step[i]
	}
}

// nearPanels is the largest number of elements of b that are assumed to be in a near cache. A
// larger b is prefetched.
const nearPanels = 16 << 10

// fetchFor returns the value of a tile's field fetch for a matrix b of `elements` elements. With
// this value, the kernel prefetches all of b. The value is 0, for no prefetching, if b has at most
// nearPanels elements. The kernel reads a panel of b at least `times` times before the next panel.
func fetchFor(elements, times int) int {
	if elements <= nearPanels {
		return 0
	}
	return min(64, ceil(2*64, max(1, times)))
}

// zero makes the sums of the tile zero. The tile then multiplies a single element, zero, by zeros.
func (t *tile) zero() {
	t.a, t.b = unsafe.Pointer(&zeros), unsafe.Pointer(&zeros)
	t.atA, t.atB, t.rowA, t.panelB, t.skipB = 0, 0, 0, 0, [3]int{}
	t.loops(1, [3]int{1, 1, 1}, [3]int{})
}

// zeros holds the operands of [tile.zero]. It is never written.
var zeros [16]float32

// rowSplit describes a division of rows into tiles. Tiles 0 to first−1 have rows+1 rows, and the
// other tiles have `rows` rows.
type rowSplit struct{ rows, tiles, first int }

// split divides n rows evenly into tiles of at most `limit` rows. n is at least 1.
func split(n, limit int) rowSplit {
	if n <= limit {
		return rowSplit{n, 1, 0}
	}
	return divide(n, ceil(n, limit))
}

// divide divides n ≥ 1 rows into min(n, tiles) tiles.
func divide(n, tiles int) rowSplit {
	tiles = min(tiles, n)
	return rowSplit{n / tiles, tiles, n % tiles}
}

func (s rowSplit) at(tile int) int { return tile*s.rows + min(tile, s.first) }

func (s rowSplit) tile(row int) int {
	if higher := s.first * (s.rows + 1); row >= higher {
		return s.first + (row-higher)/s.rows
	}
	return row / (s.rows + 1)
}

func (s rowSplit) high(tile int) int { return s.at(tile+1) - s.at(tile) }

// cover runs the tiles [from, to) of the split. They must be contiguous in memory.
func (t *tile) cover(s rowSplit, from, to int) {
	larger := min(to, max(from, s.first)) - from
	t.down(s.rows+1, larger)
	t.down(s.rows, to-from-larger)
}

// down runs `count` tiles with `rows` rows each, one below the other.
func (t *tile) down(rows, count int) {
	t.nextA, t.nextC, t.nextBias = rows*t.rowA, rows*t.rowC, 4*rows*t.byRow
	t.repeat(rows, count)
}

// area runs the tiles of high×wide pixels. t is at the first pixel. downA and downC are the distances
// in bytes between rows of pixels, in a and in c. A tile is a part of a row or, if upright is true, a
// part of a column. Adjacent tiles follow each other downwards, or to the right if upright is true,
// so that their inputs are near each other.
func (t *tile) area(high, wide, downA, downC int, upright bool) {
	limit, _ := tileLimits()
	if upright {
		high, wide = wide, high
		t.rowA, t.rowC, downA, downC = downA, downC, t.rowA, t.rowC
	}
	columns := split(wide, limit)
	if high == 1 {
		t.cover(columns, 0, columns.tiles)
		return
	}
	atA, atC := t.atA, t.atC
	t.nextA, t.nextC = downA, downC
	for i := range columns.tiles {
		x := columns.at(i)
		t.atA, t.atC = atA+x*t.rowA, atC+x*t.rowC
		t.repeat(columns.high(i), high)
	}
}

// coverPart is like [tile.cover] for tiles that are wider than c and residual, which have only
// `width` columns. It computes each tile in a buffer and copies these columns.
func (t *tile) coverPart(s rowSplit, from, to, width int) {
	var aside [maxRows][maxPanels * 16]float32
	whole := *t
	t.c, t.rowC, t.nextC = unsafe.Pointer(unseen(&aside)), 4*maxPanels*16, 0
	if whole.residual != nil {
		t.residual = t.c
	}
	for i := from; i < to; i++ {
		rows := s.high(i)
		if whole.residual != nil {
			for r := range rows {
				copy(aside[r][:], unsafe.Slice((*float32)(unsafe.Add(whole.residual, whole.atC+r*whole.rowC)), width))
			}
		}
		t.atC, t.nextA, t.nextBias = 0, rows*t.rowA, 4*rows*t.byRow
		t.repeat(rows, 1)
		for r := range rows {
			copy(unsafe.Slice((*float32)(unsafe.Add(whole.c, whole.atC+r*whole.rowC)), width), aside[r][:])
		}
		whole.atC += rows * whole.rowC
	}
	t.c, t.residual, t.rowC = whole.c, whole.residual, whole.rowC
}

// callWork is the maximum number of multiply-adds of one kernel call. It is limited because
// assembly cannot be preempted.
const callWork = 1 << 24

// repeat runs `count` adjacent tiles with `rows` rows, and moves t's positions to the tile after
// them. It makes several calls of the kernel if one would take too long.
func (t *tile) repeat(rows, count int) {
	t.rows = rows
	most := count
	if work := t.run * t.n[0] * t.n[1] * t.n[2] * rows * t.panels * 16; count*work > callWork {
		most = max(1, callWork/work)
	}
	for ; count > 0; count -= t.count {
		t.count = min(count, most)
		if t.columns != nil {
			runBytes(t)
		} else {
			runTile(t)
		}
		t.atNext += t.count * (t.run / 4 * 2) * t.n[0] * t.n[1] * t.n[2] * t.fetch
		t.atA += t.count * t.nextA
		t.atB += t.count * t.nextB
		t.atC += t.count * t.nextC
		t.atBias += t.count * t.nextBias
	}
}

// across runs tiles of `rows` rows over `panels` adjacent panels.
func (t *tile) across(rows, panels int) {
	_, most := tileLimits()
	t.nextA = 0
	for panels > 0 {
		t.panels = min(most, panels)
		count := panels / t.panels
		t.nextB, t.nextC, t.nextBias = t.panels*t.panelB, t.panels*t.panelC, 64*t.panels
		t.repeat(rows, count)
		panels -= count * t.panels
	}
}
