package cpu

import "github.com/burngen/burngen/runtime/rt"

// ConvWeightsBlockedRoom returns the number of scratch elements that [ConvWeightsBlocked] needs for
// each part that it computes concurrently. taps is KH·KW.
func ConvWeightsBlockedRoom(taps int) int { return maxRows * maxPanels * 16 * taps }

// ConvWeightsBlocked computes the gradient of the weights of a convolution with one group, and
// writes it to dst, f32[OutC][InC][KH][KW]. x is the input of the convolution,
// f32[N][⌈InC/16⌉][InH][InW][16]. g is the gradient of its result,
// f32[N][⌈OutC/16⌉][OutH][OutW][16].
//
// ConvWeightsBlocked computes the sums that [ConvWeights] computes, from tensors in another layout.
// Sums are in float32. Their order depends on [CurrentLevel]. scratch has len(x) + len(g) elements,
// plus [ConvWeightsBlockedRoom] for each part that may be computed concurrently.
func ConvWeightsBlocked(dst, x, g, scratch []float32, s *ConvShape) {
	w := newBlockedWeights(dst, x, g, scratch, s)
	if len(w.g) == 0 || len(w.x) == 0 {
		clear(w.dst)
		return
	}
	work := int64(len(w.dst)) * int64(volume(w.N, w.OutH, w.OutW))
	parts := partsFor(work, 4*int64(len(w.x)+len(w.g)+len(w.dst)))
	if p, ok := newWeightsInPlace(&w, scratch); ok && !w.movesPay() {
		if !weightsAtPlace.run(&p, min(finely(parts), p.groups*p.units())) {
			p.Part(0, 1)
		}
		rt.EndIfDone(s.Ctx)
		p.finish(w.dst)
		return
	}
	parts = min(parts, len(w.rooms)/w.room)
	for _, w.moves = range []bool{true, false} {
		rt.EndIfDone(s.Ctx)
		if !blockedWeights.run(&w, parts) {
			w.Part(0, 1)
		}
	}
	rt.EndIfDone(s.Ctx)
}

// newBlockedWeights returns the state of a ConvWeightsBlocked. It panics unless the operands fit
// the shape.
func newBlockedWeights(dst, x, g, scratch []float32, s *ConvShape) weightsOfBlocks {
	s.checkData()
	w := weightsOfBlocks{windowTaps: windowTaps{ConvShape: *s}}
	w.flatten()
	w.down, w.across = w.axes()
	w.dst = dst[:volume(s.OutC, s.InC, s.KH, s.KW)]
	w.x = x[:volume(s.N, ceil(s.InC, 16), s.InH, s.InW, 16)]
	w.g = g[:volume(s.N, s.outBlocks(), s.OutH, s.OutW, 16)]
	w.room = ConvWeightsBlockedRoom(s.KH * s.KW)
	w.rooms = scratch[:len(w.x)+len(w.g)+w.room]
	w.columns, w.rows, w.rooms = scratch[:len(w.x)], scratch[len(w.x):][:len(w.g)], scratch[len(w.x)+len(w.g):]
	limit, panels := tileLimits()
	w.strips, w.tiles = ceil(ceil(s.InC, 16), panels), split(s.OutC, limit)
	return w
}

// weightsOfBlocks is the state of a ConvWeightsBlocked that moves its operands; see [weightsInPlace] for the other
// way. It first moves g to f32[OutC][OutH][OutW][N],
// and x to f32[⌈InC/16⌉][InH][InW][N][16]. The factors of a tap are then contiguous for all images.
// Windows in which the tap is on padding can be skipped.
type weightsOfBlocks struct {
	windowTaps
	dst, x, g     []float32
	columns, rows []float32 // x and g, moved
	rooms         []float32
	room          int // of a part
	moves         bool
	strips        int // of as many blocks of x as a tile has panels
	tiles         rowSplit
}

var blockedWeights slot[weightsOfBlocks, *weightsOfBlocks]

// Part implements [rt.Task]. It does part i of `parts` of the work. If w.moves is set, the work is
// to copy x into w.columns and g into w.rows. Otherwise it is to compute the tiles of the gradient,
// strip by strip.
func (w *weightsOfBlocks) Part(i, parts int) {
	if w.moves {
		pixels := w.OutH * w.OutW
		from, to := portion(w.outBlocks()*pixels, i, parts)
		for from < to {
			end := min(to, (from/pixels+1)*pixels)
			w.moveRows(from/pixels, from%pixels, end-from)
			from = end
		}
		from, to = portion(ceil(w.InC, 16)*w.InH, i, parts)
		for ; from < to; from++ {
			w.moveColumns(from/w.InH, from%w.InH)
		}
		return
	}
	room := w.rooms[i*w.room:][:w.room]
	tiles, taps := w.strips*w.tiles.tiles, w.KH*w.KW
	each := taps // taps that a part computes together
	if tiles < 4*parts && parts > 1 {
		each = 1
	}
	groups := taps / each
	from, to := portion(tiles*groups, i, parts)
	for ; from < to && rt.Done(w.Ctx) == nil; from++ {
		tile, tap := from/groups, from%groups*each
		w.tile(room, tile/w.tiles.tiles, tile%w.tiles.tiles, tap, tap+each)
	}
}

// moveRows moves pixels of one block of channels of g to w.rows: n pixels, from pixel `first` on.
func (w *weightsOfBlocks) moveRows(block, first, n int) {
	pixels := w.OutH * w.OutW
	image := w.outBlocks() * pixels * 16
	to, from := w.rows[16*block*pixels*w.N:], w.g[16*block*pixels:]
	lanes := min(16, w.OutC-16*block)
	if w.N == 1 {
		transpose(to[first:], from[16*first:], n, lanes, pixels, 16)
		return
	}
	for p := first; p < first+n; p++ {
		transpose(to[p*w.N:], from[16*p:], w.N, lanes, pixels*w.N, image)
	}
}

// moveColumns moves one row of one block of channels of x to w.columns. y is the index of the row.
func (w *weightsOfBlocks) moveColumns(block, y int) {
	blocks := ceil(w.InC, 16)
	row := w.columns[(block*w.InH+y)*w.InW*w.N*16:][:w.InW*w.N*16]
	for n := range w.N {
		from := w.x[((n*blocks+block)*w.InH+y)*w.InW*16:][:w.InW*16]
		for x := 0; x < w.InW; x++ {
			*(*[16]float32)(row[(x*w.N+n)*16:]) = *(*[16]float32)(from[16*x:])
		}
	}
}

// fewTerms is a number of terms of a sum. With this many terms, the panels that a tile reads fit a
// second-level cache. A longer sum is computed in several steps, each for some of the output rows.
const fewTerms = 8 << 10

// tile computes taps [low, high) of some weights: from the input channels of a strip to the output
// channels of tile number `at`. It computes the weights tap by tap in room, and then transposes them
// into dst.
func (w *weightsOfBlocks) tile(room []float32, strip, at, low, high int) {
	_, panels := tileLimits()
	taps, first := w.KH*w.KW, strip*panels
	row, rows := w.tiles.at(at), w.tiles.high(at)
	t := newTile(w.rows, w.columns, room)
	t.panels = min(panels, ceil(w.InC, 16)-first)
	t.rowA, t.panelB = 4*w.OutH*w.OutW*w.N, 64*w.N*w.InH*w.InW
	t.panelC, t.rowC = 64*taps, 64*taps*t.panels
	step := max(1, fewTerms/(w.OutW*w.N))
	for from := 0; from < w.OutH; from += step {
		for tap := low; tap < high; tap++ {
			t.atA, t.atB, t.atC = row*t.rowA, first*t.panelB, 64*tap
			if w.terms(&t, tap, from, min(w.OutH, from+step)) {
				t.repeat(rows, 1)
			} else if from == 0 {
				for i := range rows * t.panels {
					clear(room[16*(i*taps+tap):][:16])
				}
			}
		}
		t.residual = t.c
	}
	for i := range rows {
		for p := range t.panels {
			c := 16 * (first + p)
			transpose(w.dst[((row+i)*w.InC+c)*taps+low:], room[16*((i*t.panels+p)*taps+low):], high-low, min(16, w.InC-c), taps, 16)
		}
	}
}

// terms prepares t to sum the products of one tap, a cell of the window, over the output rows [from,
// to): it adds to the positions in a and b, and sets the loops. It returns false, and leaves t
// unchanged, if the tap is on padding for all outputs in these rows.
func (w *weightsOfBlocks) terms(t *tile, tap, from, to int) bool {
	s, ok := w.seen(tap, from, to)
	if !ok {
		return false
	}
	a, b := 4*w.N, 64*w.N // bytes of a pixel
	t.atA += (s.y0*w.OutW + s.x0) * a
	t.atB += (s.y*w.InW + s.x) * b
	t.atNext = t.atB
	if w.StrideW == 1 {
		t.loops(s.wide*w.N, [3]int{s.high, 1, 1}, [3]int{w.OutW * a, 0, 0})
		t.skipB = [3]int{(w.StrideH*w.InW - s.wide) * b, 0, 0}
	} else {
		t.loops(w.N, [3]int{s.wide, s.high, 1}, [3]int{a, w.OutW * a, 0})
		t.skipB = [3]int{(w.StrideW - 1) * b, (w.StrideH*w.InW - (s.wide-1)*w.StrideW - 1) * b, 0}
	}
	return true
}

// windowTaps are the taps of the windows of a convolution.
type windowTaps struct {
	ConvShape
	down, across axis
}

// sight is what a tap sees: the windows whose cell at the tap is inside the input. They are `high` rows of `wide` windows;
// the first window is at (y0, x0), and its cell at (y, x).
type sight struct{ y0, x0, high, wide, y, x int }

// seen returns what a tap sees from windows in rows [from, to). ok is false if it sees nothing.
func (t *windowTaps) seen(tap, from, to int) (s sight, ok bool) {
	y0, y1 := t.down.seeing(tap / t.KW)
	x0, x1 := t.across.seeing(tap % t.KW)
	y0, y1 = max(y0, from), min(y1, to)
	return sight{
		y0: y0, x0: x0, high: y1 - y0, wide: x1 - x0,
		y: y0*t.StrideH + tap/t.KW*t.DilH - t.PadH, x: x0*t.StrideW + tap%t.KW*t.DilW - t.PadW,
	}, y0 < y1 && x0 < x1
}

func newTile(a, b, c []float32) tile { return tile{a: start(a), b: start(b), c: start(c)} }

// seeing returns the range [from, to) of outputs for which tap number `tap` of the window is inside
// the input.
func (a *axis) seeing(tap int) (from, to int) {
	at := tap*a.dil - a.pad
	if at < 0 {
		from = ceil(-at, a.stride)
	}
	if last := a.in - 1 - at; last >= 0 {
		to = min(a.out, last/a.stride+1)
	}
	return from, to
}
