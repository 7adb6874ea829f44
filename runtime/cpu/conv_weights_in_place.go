package cpu

import "github.com/burngen/burngen/runtime/rt"

// weightsInPlace is the state of a [ConvWeightsBlocked] that reads x and g where they are. A tile has a row for each of
// some input channels, and its columns are the output channels of one or two blocks. It is computed for one tap; a
// term of its sums is the product of a pixel of x with a pixel of g.
//
// The sums go over a few rows of an image at a time, which are in a near cache for all tiles and taps. Images are
// divided into groups, each with sums of its own, which are added at the end. The number of groups does not depend on
// the number of workers, so neither does the result.
type weightsInPlace struct {
	windowTaps
	x, g   []float32
	sums   []float32 // [groups][InC][KH·KW][16·blocks of OutC]
	rows   rowSplit  // of a block of 16 input channels, and of the last block, if it is not full
	last   rowSplit
	panels int // of a tile
	strips int // of as many output blocks as a tile has panels
	tiles  int // of a strip
	groups int // of images
	band   int // rows of g that all tiles read before the next ones; see cachedOperands
}

var weightsAtPlace slot[weightsInPlace, *weightsInPlace]

// cachedOperands is the number of elements of x and g that all tiles read before the next ones. They fit a
// second-level cache.
const cachedOperands = 64 << 10

// Images are divided into at most mostGroups groups of at least groupPixels pixels of g. To add the sums of smaller
// groups would take a part of the time that matters.
const (
	mostGroups  = 16
	groupPixels = 1 << 10
)

// newWeightsInPlace returns the state for the operands of w. ok is false if scratch, which has a place for moved
// operands, has none for the sums.
func newWeightsInPlace(w *weightsOfBlocks, scratch []float32) (p weightsInPlace, ok bool) {
	limit, panels := tileLimits()
	p = weightsInPlace{windowTaps: w.windowTaps, x: w.x, g: w.g, panels: panels}
	p.rows, p.strips = split(16, limit), ceil(p.outBlocks(), panels)
	p.tiles = p.InC / 16 * p.rows.tiles
	if rest := p.InC % 16; rest > 0 {
		p.last = split(rest, limit)
		p.tiles += p.last.tiles
	}
	p.groups = max(1, min(p.N, mostGroups, p.N*p.OutH*p.OutW/groupPixels))
	p.groups = min(p.groups, (len(w.x)+len(w.g))/p.size())
	p.band = max(1, cachedOperands/(16*(ceil(p.InC, 16)*p.InW*p.StrideH+p.outBlocks()*p.OutW)))
	p.sums = scratch[:p.groups*p.size()]
	return p, p.groups > 0
}

// movesPay reports whether the time to move the operands is less than what it saves. Moved operands are multiplied a
// little faster, and by fewer calls of the kernel: in place, there is at least one for each image, tap and tile.
func (w *weightsOfBlocks) movesPay() bool {
	const perElement, perCall, perProduct = 2, 40, 1. / 380 // nanoseconds
	taps := w.KH * w.KW
	products := float64(volume(w.N, w.OutH, w.OutW, w.InC, taps)) * float64(w.OutC)
	calls := volume(w.N, ceil(w.InC, 8), ceil(w.OutC, 32), taps)
	return perElement*float64(len(w.x)+len(w.g)) < perCall*float64(calls)+perProduct*products
}

// units returns the number of units of a group. A unit is a tile of one tap.
func (w *weightsInPlace) units() int { return w.tiles * w.strips * w.KH * w.KW }

// size returns the number of sums of a group.
func (w *weightsInPlace) size() int { return w.InC * w.KH * w.KW * 16 * w.outBlocks() }

// finish adds the sums of the groups, and writes them to dst.
func (w *weightsInPlace) finish(dst []float32) {
	size, columns := w.size(), w.InC*w.KH*w.KW
	for k := 1; k < w.groups; k++ {
		Add(w.sums[:size], w.sums[:size], w.sums[k*size:][:size])
	}
	transpose(dst, w.sums, columns, w.OutC, columns, 16*w.outBlocks())
}

// Part implements [rt.Task]. It computes part i of `parts` of the units of all groups.
func (w *weightsInPlace) Part(i, parts int) {
	units := w.units()
	from, to := portion(w.groups*units, i, parts)
	for from < to {
		group := from / units
		first := group * units
		end := min(to, first+units)
		for unit := from; unit < end; unit++ {
			w.clear(group, unit-first)
		}
		low, high := portion(w.N, group, w.groups)
		for n := low; n < high; n++ {
			for y := 0; y < w.OutH && rt.Done(w.Ctx) == nil; y += w.band {
				for unit := from; unit < end; unit++ {
					w.add(group, unit-first, n, y, min(w.OutH, y+w.band))
				}
			}
		}
		from = end
	}
}

// place returns what a unit of a group computes: a strip and a tap, for `rows` input channels from `channel` on.
func (w *weightsInPlace) place(unit int) (channel, rows, strip, tap int) {
	taps := w.KH * w.KW
	tile := unit / (w.strips * taps)
	strip, tap = unit/taps%w.strips, unit%taps
	block, at := tile/w.rows.tiles, tile%w.rows.tiles
	if block < w.InC/16 {
		return 16*block + w.rows.at(at), w.rows.high(at), strip, tap
	}
	block = w.InC / 16
	at = tile - block*w.rows.tiles
	return 16*block + w.last.at(at), w.last.high(at), strip, tap
}

// clear sets the sums of a unit to 0.
func (w *weightsInPlace) clear(group, unit int) {
	channel, rows, strip, tap := w.place(unit)
	for r := range rows {
		at := w.sum(group, channel+r, tap, strip)
		clear(w.sums[at:][:16*min(w.panels, w.outBlocks()-strip*w.panels)])
	}
}

// sum returns the index of the first sum of an input channel, a tap and a strip.
func (w *weightsInPlace) sum(group, channel, tap, strip int) int {
	return group*w.size() + 16*((channel*w.KH*w.KW+tap)*w.outBlocks()+strip*w.panels)
}

// add adds products to the sums of a unit: those of rows [from, to) of an image of g.
func (w *weightsInPlace) add(group, unit, image, from, to int) {
	channel, rows, strip, tap := w.place(unit)
	s, ok := w.seen(tap, from, to)
	if !ok {
		return
	}
	const pixel = 64 // bytes
	t := newTile(w.x, w.g, w.sums)
	t.residual = t.c
	t.panels = min(w.panels, w.outBlocks()-strip*w.panels)
	t.atA = (((image*ceil(w.InC, 16)+channel/16)*w.InH+s.y)*w.InW+s.x)*pixel + channel%16*4
	t.rowA = 4
	t.atB = (((image*w.outBlocks()+strip*w.panels)*w.OutH+s.y0)*w.OutW + s.x0) * pixel
	t.atNext = t.atB
	t.panelB = w.OutH * w.OutW * pixel
	t.atC = 4 * w.sum(group, channel, tap, strip)
	t.rowC, t.panelC = w.KH*w.KW*w.outBlocks()*64, 64
	t.loops(1, [3]int{s.wide, s.high, 1}, [3]int{w.StrideW * pixel, w.StrideH * w.InW * pixel, 0})
	t.skipB = [3]int{0, (w.OutW - s.wide) * pixel, 0}
	t.repeat(rows, 1)
}
