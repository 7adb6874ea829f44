package cpu

import (
	"context"
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// WinogradShape describes a 3×3 convolution with stride 1 that is computed by the Winograd algorithm.
// For a pair of channels, Tile×Tile outputs take (Tile+2)² products instead of 9·Tile². See S.
// Winograd, "Arithmetic Complexity of Computations", 1980, and A. Lavin and S. Gray, "Fast Algorithms
// for Convolutional Neural Networks", 2016.
type WinogradShape struct {
	// The input is blocked, f32[N][⌈InC/16⌉][InH][InW][16], without padding.
	N, InC, InH, InW int
	// The output is blocked, f32[N][⌈OutC/16⌉][OutH][OutW][16].
	OutC, OutH, OutW int
	// Output y, x is the sum over the inputs in rows y−Top…y−Top+2 and columns x−Left…x−Left+2.
	// Cells outside of the input are zero.
	Top, Left int
	Group     int // divides InC and OutC, into whole blocks unless it is 1
	Tile      int // 2 or 4
	// Ctx ends the call early; may be nil. See Until.
	Ctx context.Context
}

func (s *WinogradShape) inBlocks() int  { return ceil(s.InC, 16) }
func (s *WinogradShape) outBlocks() int { return ceil(s.OutC, 16) }

// width returns the number of input blocks on which an output block depends.
func (s *WinogradShape) width() int { return ceil(s.InC/s.Group, 16) }

// points returns the number of interpolation points along an axis, which is the extent of a
// transformed tile.
func (s *WinogradShape) points() int { return s.Tile + 2 }

// checkWeights panics unless Tile is 2 or 4, InC, OutC and Group are positive, and Group divides InC
// and OutC. With several groups, the numbers of channels of a group must also be multiples of 16.
func (s *WinogradShape) checkWeights() {
	if min(s.InC, s.OutC, s.Group) < 1 || s.Tile != 2 && s.Tile != 4 {
		panic("cpu: a Winograd convolution of no size")
	}
	if s.InC%s.Group != 0 || s.OutC%s.Group != 0 || s.Group > 1 && (s.InC/s.Group%16 != 0 || s.OutC/s.Group%16 != 0) {
		panic("cpu: the groups of a Winograd convolution are not of whole blocks")
	}
}

// WinogradWeightsLen returns the number of elements of the transformed weights.
func WinogradWeightsLen(s *WinogradShape) int {
	return volume(s.points(), s.points(), s.outBlocks(), s.width(), 256)
}

// PackWinograd transforms the weights of a convolution for [Winograd]. w is
// f32[OutC][InC/Group][3][3]. dst is f32[(Tile+2)²][⌈OutC/16⌉][B][16][16], where B is the number of
// blocks of 16 input channels in a group. PackWinograd computes in float64. It does not use the
// image sizes of the shape.
func PackWinograd(dst, w []float32, s *WinogradShape) {
	s.checkWeights()
	in, width, points := s.InC/s.Group, s.width(), s.points()
	plane := volume(s.outBlocks(), width, 256)
	dst = dst[:volume(points, points, plane)]
	w = w[:volume(s.OutC, in, 9)]
	clear(dst)
	for o := 0; o < s.OutC; o += 16 {
		lanes := min(16, s.OutC-o)
		for i := range in {
			// A line for each point. The lines are far apart in dst.
			var lines [maxPoints * maxPoints][16]float32
			for lane := range lanes {
				g := (*[9]float32)(w[((o+lane)*in+i)*9:])
				var rows [maxPoints][3]float64
				for x := range 3 {
					for y, v := range weightPoints(s.Tile, float64(g[x]), float64(g[3+x]), float64(g[6+x])) {
						rows[y][x] = v
					}
				}
				for y, r := range rows[:points] {
					for x, v := range weightPoints(s.Tile, r[0], r[1], r[2]) {
						if x < points {
							lines[y*points+x][lane] = float32(v)
						}
					}
				}
			}
			at := ((o/16*width+i/16)*16 + i%16) * 16
			for p, line := range lines[:points*points] {
				*(*[16]float32)(dst[p*plane+at:]) = line
			}
		}
	}
}

// weightPoints returns G·(a, b, c) for F(tile,3).
func weightPoints(tile int, a, b, c float64) [maxPoints]float64 {
	if tile == 2 {
		sum := a + c
		return [maxPoints]float64{a, (sum + b) / 2, (sum - b) / 2, c}
	}
	sum, far := a+c, a+float64(4*c)
	return [maxPoints]float64{
		a / 4,
		(-sum - b) / 6, (b - sum) / 6,
		(far + float64(2*b)) / 24, (far - float64(2*b)) / 24,
		c,
	}
}

// linePixels is the maximum number of pixels of a line. A line has the pixels of the tiles of a
// [segment], and two more. It is transformed as a whole.
const linePixels = 64 + 2

// lineBytes returns the distance in bytes between lines. A pixel has 16 channels.
func (s *WinogradShape) lineBytes() int {
	return 64 * min(linePixels, ceil(s.OutW, s.Tile)*s.Tile+2)
}

// WinogradScratch returns the number of scratch elements that [Winograd] needs if it computes
// `parts` parts concurrently, with `tiles` tiles in all parts together. tiles must be at least 14,
// or the number of tiles of the convolution if that is less.
func WinogradScratch(s *WinogradShape, parts, tiles int) int {
	points := volume(s.points(), s.points(), 16)
	return volume(parts, 2*points) + volume(tiles, s.inBlocks()+s.outBlocks(), points)
}

// Winograd computes the convolution of src with weights transformed by [PackWinograd]. Sums are in
// float32. Their order depends on [CurrentLevel]. With Tile 4 the error is about ten times the
// error of [Conv]. With Tile 2 it is about the same as the error of Conv. An infinity or NaN in the
// input affects all outputs of the tiles that read it. Channels beyond OutC are zero in dst if they
// are zero in the bias and the residual.
//
// The sizes of scratch and of the second-level cache determine how many parts are computed
// concurrently, and how many tiles a part processes at a time; see [WinogradScratch]. Winograd
// panics if scratch is too short for one part.
func Winograd(dst, src, weights, scratch []float32, s *WinogradShape, ep *Epilogue) {
	if s.N <= 0 || s.OutC <= 0 || s.OutH <= 0 || s.OutW <= 0 {
		return
	}
	if ep == nil {
		ep = &none
	}
	w := newWinograd(dst, src, weights, scratch, s, ep)
	work := int64(w.tiles) * int64(len(w.weights))
	rt.EndIfDone(s.Ctx)
	w.run(partsFor(work, 4*int64(len(w.src)+len(w.dst)+len(w.weights))))
	rt.EndIfDone(s.Ctx)
}

type winograd struct {
	WinogradShape
	dst, src, weights []float32
	scratch           []float32
	ep                Epilogue

	across, down int      // tiles of an image
	tiles        int      // of all images
	rows         rowSplit // division of the tiles into rows for the products' kernel

	// These fields describe the work of the parts: rows of tiles from input to output, or one step
	// of the work on tiles from…to of the split.
	step     winogradStep
	from, to int

	// Parts that are computed concurrently have rooms of the scratch. Bit i of taken is set while a part
	// has room i.
	rooms int
	taken uint32
	high  int // largest number of rows of w.rows that such a part processes at once
}

type winogradStep int

const (
	wholeTiles winogradStep = iota
	spreadTiles
	multiplyTiles
	collectTiles
)

var winograds slot[winograd, *winograd]

// newWinograd returns the state of a Winograd. It panics unless the operands fit the shape.
func newWinograd(dst, src, weights, scratch []float32, s *WinogradShape, ep *Epilogue) winograd {
	s.checkWeights()
	if min(s.Top, s.Left, s.InH, s.InW) < 0 {
		panic("cpu: a Winograd convolution of negative size")
	}
	w := winograd{WinogradShape: *s, ep: *ep, scratch: scratch}
	w.src = src[:volume(s.N, s.inBlocks(), s.InH, s.InW, 16)]
	w.dst = dst[:volume(s.N, s.outBlocks(), s.OutH, s.OutW, 16)]
	w.weights = weights[:WinogradWeightsLen(s)]
	ep.check(s.OutC, len(w.dst))
	w.across, w.down = ceil(s.OutW, s.Tile), ceil(s.OutH, s.Tile)
	w.tiles = s.N * w.across * w.down
	limit, _ := tileLimits()
	w.rows = split(w.tiles, limit)
	w.rooms, w.high = 1, w.room(1)
	if w.high < 1 {
		panic("cpu: too little scratch for a Winograd convolution")
	}
	return w
}

// These are sizes in elements or in tiles. They fit a second-level cache, and are large enough that
// reading the weights does not dominate the time.
const (
	winogradGroup = 160 << 10 // elements of factors and products that fit the cache
	fewTiles      = 24        // with fewer tiles, reading a weight takes longer than computing with it
	manyTiles     = 56        // the largest number of tiles that are meant to fit the cache
	mostTiles     = 224       // the largest number of tiles at once
)

// atOnce returns the number of tiles to process at a time. Usually it is the number that fits the
// cache. With more tiles, the weights are read less often, but the factors and products do not stay
// in the cache. atOnce returns a greater number if this causes less memory traffic.
func (w *winograd) atOnce(tiles int) int {
	near := min(manyTiles, max(fewTiles, winogradGroup/w.tileElems()))
	far := min(tiles, mostTiles)
	if ceil(tiles, far)*len(w.weights)+2*tiles*w.tileElems() < ceil(tiles, near)*len(w.weights) {
		return far
	}
	return near
}

// mostRooms is the maximum number of rooms. A room is a piece of the scratch memory, in which one
// worker computes tiles of its own.
const mostRooms = 32

// atOnceBy returns the number of tiles that `workers` workers together process at a time. Each
// worker has a part of the tiles' factors and products in its cache.
func (w *winograd) atOnceBy(workers int) int {
	return max(w.atOnce(w.tiles), workers*winogradGroup/w.tileElems())
}

// tileElems returns the number of elements that the factors and the products of one tile have
// together.
func (w *winograd) tileElems() int {
	return w.points() * w.points() * 16 * (w.inBlocks() + w.outBlocks())
}

func (w *winograd) highest() int { return w.rows.high(0) }

// room returns the number of rows that fit a piece of the scratch memory. A row of w.rows is a
// group of tiles that are multiplied together. The scratch memory is divided into `shares` equal
// pieces.
func (w *winograd) room(shares int) int {
	rest := len(w.scratch)/shares - 2*16*w.points()*w.points()
	return rest / w.tileElems() / w.highest()
}

// run computes the convolution on at most the given number of workers. Each worker computes its own
// tiles, from input to output, if there is enough scratch memory, and at least fewTiles tiles, for
// each worker. Otherwise all workers process the same tiles together, one step after the other:
// they transform the inputs, then multiply, then transform the results.
func (w *winograd) run(workers int) {
	w.rooms = min(workers, mostRooms)
	for w.rooms > 1 && w.room(w.rooms) < 1 {
		w.rooms--
	}
	if w.rooms == workers && (workers == 1 || w.tiles >= fewTiles*workers) {
		w.high = min(w.room(workers), max(1, w.atOnce(ceil(w.tiles, workers))/w.highest()))
		w.share(workers * ceil(ceil(w.rows.tiles, workers), w.high))
		return
	}
	w.rooms = workers
	most := min(w.room(1), max(1, w.atOnceBy(workers)/w.highest()))
	for w.from = 0; w.from < w.rows.tiles && rt.Done(w.Ctx) == nil; w.from = w.to {
		w.to = min(w.from+most, w.rows.tiles)
		for w.step = spreadTiles; w.step <= collectTiles; w.step++ {
			w.share(finely(workers))
		}
	}
}

// share does the work that w.step selects. It divides the work into `parts` parts, which the pool
// computes. If there is only one worker, or if the pool computes another convolution of this kind,
// share does all of the work itself.
func (w *winograd) share(parts int) {
	if w.rooms == 1 || !winograds.run(w, parts) {
		w.Part(0, 1)
	}
}

// enter waits until one of the rooms, the pieces of the scratch memory, is free. It takes this room
// and returns its number.
func (w *winograd) enter() int {
	for {
		taken := atomic.LoadUint32(&w.taken)
		room := bits.TrailingZeros32(^taken)
		if room >= w.rooms {
			runtime.Gosched() // more workers came after run had counted them
		} else if atomic.CompareAndSwapUint32(&w.taken, taken, taken|1<<room) {
			return room
		}
	}
}

func (w *winograd) leave(room int) { atomic.AndUint32(&w.taken, ^(uint32(1) << room)) }

// Part implements [rt.Task]. It does part i of `parts` of the work that w.step selects.
func (w *winograd) Part(i, parts int) {
	switch w.step {
	case multiplyTiles:
		var b winogradBuffers
		b.place(w, w.scratch, w.from, w.to)
		from, to := portion(w.products(&b), i, parts)
		w.multiply(&b, from, to)
	case wholeTiles:
		room := w.enter()
		defer w.leave(room)
		w.groups(i, parts, room)
	default:
		var b winogradBuffers
		b.place(w, w.scratch, w.from, w.to)
		w.transformOnly(&b, i, parts)
	}
}

// winogradLines is an array for a line of zeros and a line for each point of a transform. The first
// line starts at the first multiple of 64 bytes; see [aligned].
type winogradLines [(1+maxPoints)*16*linePixels + 15]float32

// aligned returns the address of the first element of `lines` whose address is a multiple of 64.
// This remains true if the stack moves.
func aligned(lines *winogradLines) unsafe.Pointer {
	p := unsafe.Pointer(lines)
	return unsafe.Add(p, -uintptr(p)&63)
}

// transformOnly computes part i of `parts` of step w.step, which transforms the tiles of b.
func (w *winograd) transformOnly(b *winogradBuffers, i, parts int) {
	var lines winogradLines
	b.lines, b.line = aligned(unseen(&lines)), w.lineBytes()
	w.transform(b, w.step, i, parts)
}

// groups computes part i of `parts` of the tiles, from input to output. w.rows divides the tiles
// into rows; groups processes at most w.high rows at a time. It uses piece number `room` of the
// scratch memory.
func (w *winograd) groups(i, parts, room int) {
	from, to := portion(w.rows.tiles, i, parts)
	if from == to {
		return
	}
	var lines winogradLines
	b := winogradBuffers{lines: aligned(unseen(&lines)), line: w.lineBytes()}
	groups := ceil(to-from, w.high)
	share := w.scratch[len(w.scratch)/w.rooms*room:]
	for g := range groups {
		if rt.Done(w.Ctx) != nil {
			return
		}
		r0, r1 := portion(to-from, g, groups)
		b.place(w, share, from+r0, from+r1)
		w.transform(&b, spreadTiles, 0, 1)
		w.multiply(&b, 0, w.products(&b))
		w.transform(&b, collectTiles, 0, 1)
	}
}

// winogradBuffers is the scratch memory of a part.
type winogradBuffers struct {
	lines    unsafe.Pointer // of a segment, the first is zero
	line     int            // distance between lines in bytes
	factors  unsafe.Pointer // [points²][⌈InC/16⌉][tiles][16]
	products unsafe.Pointer // [points²][⌈OutC/16⌉][tiles][16]
	r0, r1   int            // rows of w.rows whose factors and products it has
	first    int            // tile of row r0
	tiles    int
	// These are the distances in bytes between the factors and products of adjacent points. They
	// are odd numbers of cache lines, because the points of a tile are accessed together.
	factorPlane, productPlane int
}

// place divides `share`, a piece of the scratch memory, into memory for factors and memory for
// products. The piece is for the tiles in rows [r0, r1) of w.rows.
func (b *winogradBuffers) place(w *winograd, share []float32, r0, r1 int) {
	b.r0, b.r1, b.first = r0, r1, w.rows.at(r0)
	b.tiles = w.rows.at(r1) - b.first
	plane := func(blocks int) int { return 64 * (b.tiles*blocks | 1) }
	b.factorPlane, b.productPlane = plane(w.inBlocks()), plane(w.outBlocks())
	points := w.points() * w.points()
	share = share[:points*(b.factorPlane+b.productPlane)/4]
	b.factors = start(share)
	b.products = unsafe.Add(b.factors, points*b.factorPlane)
}

// segment describes adjacent tiles in a row of an image.
type segment struct{ image, y, x, tiles int }

// segment returns the segment that starts at tile `from`. It ends at tile `to`, or earlier at the
// end of a row of the image or if a line has no space for more.
func (w *winograd) segment(from, to int) segment {
	row := from / w.across
	x := from - row*w.across
	return segment{row / w.down, row % w.down, x, min(to-from, w.across-x, (linePixels-2)/w.Tile)}
}

// transform computes part i of `parts` of a step that transforms the tiles of b. The step is
// spreadTiles, which transforms each input block, or collectTiles, which transforms each output
// block.
func (w *winograd) transform(b *winogradBuffers, step winogradStep, i, parts int) {
	blocks := w.inBlocks()
	if step == collectTiles {
		blocks = w.outBlocks()
	}
	line, end := b.first/w.across, ceil(b.first+b.tiles, w.across)
	from, to := portion(blocks*(end-line), i, parts)
	for ; from < to; from++ {
		block, at := from/(end-line), from%(end-line)
		t := max(b.first, (line+at)*w.across)
		last := min(b.first+b.tiles, (line+at+1)*w.across)
		for t < last {
			g := w.segment(t, last)
			if step == spreadTiles {
				w.spread(b, block, t, g)
			} else {
				w.collect(b, block, t, g)
			}
			t += g.tiles
		}
	}
}

// spread writes the factors of one segment of one input block. The segment starts at tile number
// `tile`.
func (w *winograd) spread(b *winogradBuffers, block, tile int, g segment) {
	points := w.points()
	w.spreadColumns(b, block, g)
	t := transform{
		dst:  unsafe.Add(b.factors, 64*(block*b.tiles+tile-b.first)),
		next: b.factorPlane, stepSrc: 64 * w.Tile, stepDst: 64,
		count: g.tiles, lines: points,
	}
	t.gapSrc = b.line - t.count*t.stepSrc
	t.gapDst = points*b.factorPlane - 64*t.count
	for i := range points {
		t.src[i] = unsafe.Add(b.lines, b.line+64*i)
	}
	runTransform(spreadInputs, w.Tile, &t)
}

// spreadColumns applies the input transform Bᵀ along each column of pixels of a segment, for one
// input block. Line 0 of b.lines holds zeros. Line 1+i receives point i of the transform of every
// column. Points of columns outside of the image are zero.
func (w *winograd) spreadColumns(b *winogradBuffers, block int, g segment) {
	points, pixels := w.points(), g.tiles*w.Tile+2
	y, x := g.y*w.Tile-w.Top, g.x*w.Tile-w.Left
	from, to := min(max(x, 0)-x, pixels), max(min(x+pixels, w.InW)-x, 0)
	if to <= from {
		from, to = pixels, pixels
	}
	for i := range points {
		line := unsafe.Slice((*float32)(unsafe.Add(b.lines, b.line*(1+i))), 16*pixels)
		clear(line[:16*from])
		clear(line[16*to:])
	}
	if to == from {
		return
	}
	t := transform{
		dst:  unsafe.Add(b.lines, b.line+64*from),
		next: b.line, stepSrc: 64, stepDst: 64,
		count: to - from, lines: 1,
	}
	plane := (g.image*w.inBlocks() + block) * w.InH
	for i := range points {
		t.src[i] = b.lines
		if y+i >= 0 && y+i < w.InH {
			t.src[i] = unsafe.Pointer(&w.src[16*((plane+y+i)*w.InW+x+from)])
		}
	}
	runTransform(spreadInputs, w.Tile, &t)
}

// products returns the number of products that [winograd.multiply] computes for the tiles of b. A
// product is for one point of the transform, one row of w.rows (a group of tiles), and as many
// output blocks as a kernel's tile has panels.
func (w *winograd) products(b *winogradBuffers) int {
	_, panels := tileLimits()
	return w.points() * w.points() * ceil(w.outBlocks(), panels) * (b.r1 - b.r0)
}

// multiply computes products [from, to) of the tiles of b; see [winograd.products] for what a product
// is. Products that follow each other use the same weights.
func (w *winograd) multiply(b *winogradBuffers, from, to int) {
	_, panels := tileLimits()
	width, high := w.width(), b.r1-b.r0
	strips := ceil(w.outBlocks(), panels)
	t := tile{
		a: b.factors, b: start(w.weights), c: b.products,
		rowA: 64, rowC: 64, panelB: 1024 * width, panelC: 64 * b.tiles,
		fetch: fetchFor(len(w.weights), high),
	}
	t.loops(16, [3]int{width, 1, 1}, [3]int{64 * b.tiles, 0, 0})
	for from < to {
		strip := from / high
		r0 := from - strip*high
		r1 := min(high, r0+to-from)
		from += r1 - r0
		point, o := strip/strips, strip%strips*panels
		above := w.rows.at(b.r0+r0) - b.first // tiles
		multiply := func(o, panels int) {
			t.panels = panels
			t.atA = point*b.factorPlane + 64*(w.first(o)*b.tiles+above)
			t.atB = t.panelB * (point*w.outBlocks() + o)
			t.atC = point*b.productPlane + 64*(o*b.tiles+above)
			t.atNext = t.atB + panels*t.panelB
			t.cover(w.rows, b.r0+r0, b.r0+r1)
		}
		if n := min(panels, w.outBlocks()-o); n < 2 || w.first(o) == w.first(o+1) {
			multiply(o, n)
		} else {
			multiply(o, 1)
			multiply(o+1, 1)
		}
	}
}

// first returns the first input block on which an output block depends.
func (w *winograd) first(o int) int { return 16 * o / (w.OutC / w.Group) * w.width() }

// collect computes the output of one segment of output block o from its products. The segment starts
// at tile number `tile`.
func (w *winograd) collect(b *winogradBuffers, o, tile int, g segment) {
	points := w.points()
	t := transform{
		dst:  unsafe.Add(b.lines, b.line),
		next: 64, stepSrc: 64, stepDst: 64 * w.Tile,
		count: g.tiles, lines: points,
	}
	t.gapSrc = points*b.productPlane - 64*t.count
	t.gapDst = b.line - t.count*t.stepDst
	for i := range points {
		t.src[i] = unsafe.Add(b.products, i*b.productPlane+64*(o*b.tiles+tile-b.first))
	}
	runTransform(gatherProducts, w.Tile, &t)

	y, x := g.y*w.Tile, g.x*w.Tile
	pixel := ((g.image*w.outBlocks()+o)*w.OutH+y)*w.OutW + x
	rows, columns := min(w.Tile, w.OutH-y), min(g.tiles*w.Tile, w.OutW-x)
	t = transform{
		dst:  unsafe.Pointer(&w.dst[16*pixel]),
		next: 64 * w.OutW, stepSrc: 64, stepDst: 64,
		count: columns, lines: 1,
		rows: rows, bias: b.lines, lo: -Inf, hi: Inf,
	}
	for i := range points {
		t.src[i] = unsafe.Add(b.lines, b.line*(1+i))
	}
	if w.ep.Bias != nil {
		t.bias = unsafe.Pointer(&w.ep.Bias[16*o])
	}
	if w.ep.Residual != nil {
		t.residual = unsafe.Pointer(&w.ep.Residual[16*pixel])
	}
	if lo, hi, ok := w.ep.limits(); ok {
		t.lo, t.hi = lo, hi
	}
	runTransform(finishProducts, w.Tile, &t)
	if columns == w.OutW {
		rows, columns = 1, rows*columns
	}
	for r := range rows {
		first := 16 * (pixel + r*w.OutW)
		w.ep.then(w.dst, first, columns, 16, 16)
		if o == w.outBlocks()-1 {
			w.ep.rezero(w.dst[first:][:16*columns], w.OutC%16)
		}
	}
}
