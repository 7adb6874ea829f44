package cpu

import (
	"context"

	"github.com/burngen/burngen/runtime/rt"
)

// ConvShape describes a convolution (ONNX Conv). Cells outside of the input count as zero. They are
// not stored.
type ConvShape struct {
	N, InC, InH, InW int
	// InBlock is 16 for a blocked input. It is 1 for a planar input, f32[N][InC][InH][InW], such as
	// the input of a first layer with few channels. [ConvBytes] also takes blocks of 4.
	InBlock int
	// The output is blocked: f32[N][⌈OutC/16⌉][OutH][OutW][16].
	OutC, OutH, OutW int
	KH, KW           int
	StrideH, StrideW int
	DilH, DilW       int
	PadH, PadW       int // cells before the first row and column
	Group            int // divides InC and OutC
	// Terms is the largest number of terms that are added sequentially. It is at least the number
	// of terms of one block of input channels. Longer sums are sums of partial sums, which round
	// less. 0 means all terms.
	Terms int
	// Ctx ends the call early; may be nil. See Until.
	Ctx context.Context
}

// inBlocks returns the number of channel blocks of the input, and outBlocks the number of channel
// blocks of the output.
func (s *ConvShape) inBlocks() int  { return ceil(s.InC, s.InBlock) }
func (s *ConvShape) outBlocks() int { return ceil(s.OutC, 16) }

// reach returns the range [from, to) of input blocks that an output block depends on. These are the
// blocks of every group that has channels in the output block.
func (s *ConvShape) reach(outBlock int) (from, to int) {
	in, out := s.InC/s.Group, s.OutC/s.Group
	firstGroup := 16 * outBlock / out
	lastGroup := min(16*outBlock+15, s.OutC-1) / out
	return firstGroup * in / s.InBlock, ceil((lastGroup+1)*in, s.InBlock)
}

// width returns the largest number of input blocks that an output block depends on; see
// [ConvShape.reach]. The packed weights of each output block have this many input blocks.
func (s *ConvShape) width() int {
	if s.Group == 1 {
		return s.inBlocks()
	}
	width := 0
	for o := range s.outBlocks() {
		from, to := s.reach(o)
		width = max(width, to-from)
	}
	return width
}

// first returns the index of the first input block for which an output block has packed weights.
// There are `width` such input blocks, which are adjacent. width is the result of
// [ConvShape.width].
func (s *ConvShape) first(outBlock, width int) int {
	from, _ := s.reach(outBlock)
	return min(from, s.inBlocks()-width)
}

// depth returns the number of packed weights of one output channel, which is the number of terms of
// a sum. width is the result of [ConvShape.width].
func (s *ConvShape) depth(width int) int { return width * s.KH * s.KW * s.InBlock }

// ConvWeightsLen returns the number of elements that [PackConv] writes to dst.
func ConvWeightsLen(s *ConvShape) int { return s.outBlocks() * s.depth(s.width()) * 16 }

// PackConv packs the weights of a convolution. w is f32[OutC][InC/Group][KH][KW], and dst is
// f32[⌈OutC/16⌉][B][KH][KW][InBlock][16]. B is the largest number of blocks of input channels that
// a block of output channels depends on. Missing channels have zero weights.
//
// A block of output channels may have channels of several groups. Its weights from an input channel
// to an output channel of another group are zero. As a result, an infinity or a NaN in one of these
// groups makes results of the other groups NaN.
//
// PackConv does not use the sizes, strides, dilations and padding of the shape.
func PackConv(dst, w []float32, s *ConvShape) {
	s.checkWeights()
	width := s.width()
	depth := s.depth(width)
	dst = dst[:volume(s.outBlocks(), width, s.KH, s.KW, s.InBlock, 16)]
	p := convPacking{ConvShape: *s, dst: dst, width: width, depth: depth}
	p.w = w[:volume(s.OutC, s.InC/s.Group, s.KH*s.KW)]
	if !packsOfConvs.run(&p, partsFor(0, 4*int64(len(p.dst)+len(p.w)))) {
		p.Part(0, 1)
	}
}

type convPacking struct {
	ConvShape
	dst, w       []float32
	width, depth int // see ConvShape
}

var packsOfConvs slot[convPacking, *convPacking]

func (p *convPacking) Part(i, parts int) {
	in, out, taps := p.InC/p.Group, p.OutC/p.Group, p.KH*p.KW
	from, to := portion(p.outBlocks(), i, parts)
	for ; from < to; from++ {
		block := p.dst[from*p.depth*16:][:p.depth*16]
		first, lanes := 16*from, min(16, p.OutC-16*from)
		if lanes < 16 || p.InC%p.InBlock != 0 || p.Group > 1 {
			clear(block)
		}
		if p.Group == 1 {
			for c := range in {
				at := c/p.InBlock*taps*p.InBlock + c%p.InBlock
				transpose(block[16*at:], p.w[(first*in+c)*taps:], lanes, taps, 16*p.InBlock, in*taps)
			}
			continue
		}
		begin, _ := p.reach(from)
		for o := first; o < first+lanes; o++ {
			for k := range in {
				c := o/out*in + k - begin*p.InBlock
				at := c/p.InBlock*taps*p.InBlock + c%p.InBlock
				for tap, v := range p.w[(o*in+k)*taps:][:taps] {
					block[(at+tap*p.InBlock)*16+o%16] = v
				}
			}
		}
	}
}

// Conv computes the convolution of src with weights packed by [PackConv]. Sums are in float32.
// Their order depends on [CurrentLevel]. Channels beyond OutC are zero in dst if they are zero in
// the bias and the residual.
func Conv(dst, src, weights []float32, s *ConvShape, ep *Epilogue) {
	if s.N <= 0 || s.OutC <= 0 || s.OutH <= 0 || s.OutW <= 0 {
		return
	}
	if ep == nil {
		ep = &none
	}
	c := newConv(dst, src, weights, s, ep)
	work := int64(len(c.dst)) * int64(c.depth)
	parts := convs.runUntil(s.Ctx, &c, nanoseconds(work, 4*int64(len(c.src)+len(c.dst)+len(c.weights))))
	for i := range parts {
		rt.EndIfDone(s.Ctx)
		c.Part(i, parts)
	}
}

// newConv returns the planned state of a Conv. It panics unless the operands fit the shape.
func newConv(dst, src, weights []float32, s *ConvShape, ep *Epilogue) conv {
	s.checkWeights()
	c := conv{ConvShape: *s, ep: *ep, width: s.width()}
	c.ConvShape.flatten()
	c.down, c.across = c.axes()
	c.depth = s.depth(c.width)
	c.places = places{plane: c.OutH * c.OutW, below: c.OutW, beside: 1}
	c.taps = taps{all: c.KH * c.KW, row: c.KW, below: 1, beside: 1}
	c.src = src[:volume(s.N, s.inBlocks(), s.InH, s.InW, s.InBlock)]
	c.dst = dst[:volume(s.N, s.outBlocks(), s.OutH, s.OutW, 16)]
	c.weights = weights[:volume(s.outBlocks(), c.width, s.KH, s.KW, s.InBlock, 16)]
	ep.check(s.OutC, len(c.dst))
	c.plan()
	return c
}

// flatten treats each image as one long row, if each window is a single pixel and the output has the
// size of the input.
func (s *ConvShape) flatten() {
	if s.KH == 1 && s.KW == 1 && s.StrideH == 1 && s.StrideW == 1 && s.PadH == 0 && s.PadW == 0 && s.InH == s.OutH && s.InW == s.OutW {
		s.InH, s.InW, s.OutH, s.OutW = 1, volume(s.InH, s.InW), 1, volume(s.OutH, s.OutW)
	}
}

// checkWeights panics unless Group divides InC and OutC. The numbers of channels and groups, the size
// of the window and the block size must also be positive.
func (s *ConvShape) checkWeights() {
	if min(s.InC, s.OutC, s.Group, s.KH, s.KW, s.InBlock) < 1 {
		panic("cpu: a convolution of no size")
	}
	if s.InC%s.Group != 0 || s.OutC%s.Group != 0 {
		panic("cpu: the groups of a convolution do not divide its channels")
	}
}

// axes describes the placement of the windows along a column of the image (`down`) and along a row
// (`across`). It panics if a stride or dilation is below 1, or if a size or padding is negative.
func (s *ConvShape) axes() (down, across axis) {
	if min(s.StrideH, s.StrideW, s.DilH, s.DilW) < 1 || min(s.PadH, s.PadW, s.InH, s.InW) < 0 {
		panic("cpu: a convolution without steps or of negative size")
	}
	volume(s.OutH, s.StrideH) // which must not overflow
	volume(s.OutW, s.StrideW)
	return newAxis(s.InH, s.OutH, s.KH, s.StrideH, s.DilH, s.PadH, 0), newAxis(s.InW, s.OutW, s.KW, s.StrideW, s.DilW, s.PadW, 0)
}

type conv struct {
	ConvShape
	dst, src, weights []float32
	ep                Epilogue

	width, depth int // see ConvShape
	blocks       int // largest number of input blocks in a partial sum
	down, across axis
	places       places
	taps         taps
	together     int      // images that are treated as one, with tiles across them
	columns      rowSplit // of a row of the output
	strips       int      // output blocks, in strips of as many as a tile has panels
	lines        int      // rows of the output, or tiles if there is a single row
	bands        rowSplit // lines that are not divided between shares
	slab         int      // bands that all strips process before the next ones
	fetch        int      // see tile
	input        int      // elements of one image's input
}

// taps describes where the weights of a window's taps are, among the weights of an input block.
type taps struct {
	all, row int // taps in a block, and in a row of the window
	// first is the index of the window's first tap. beside is the distance between adjacent taps of
	// a row, in taps. below is the distance between adjacent rows, in rows. back reverses the order
	// of the taps.
	first, below, beside int
	back                 bool
}

// places describes where the outputs of a convolution are in dst. Distances are in pixels.
type places struct {
	plane         int // distance between channel blocks
	first         int // index of the first output in a plane
	below, beside int // distances between outputs in a column and in a row
}

var convs slot[conv, *conv]

// The following are sizes in elements that [conv.plan] aims for. A slab is a number of output rows
// that are computed for all output channels before the next slab.
const (
	smallWeights = 128 << 10 // fit a second-level cache together with a slab's input
	slabInput    = 64 << 10
	slabThen     = 1024 * 16 // result of a slab if Then reads it from the cache
)

// A band is several adjacent rows of the output. A band is not divided among threads.
const (
	manyBands  = 16      // bands of an output to aim for
	lowestBand = 4       // rows of a band, at least
	bandWork   = 1 << 20 // multiply-adds of a band, at least
)

// A tile may have outputs of several images if there are at least manyImages images, and if their
// outputs have at most fewColumns rows and columns.
const (
	fewColumns = 7
	manyImages = 4
)

// plan chooses the sizes of bands and slabs of output rows. The input of a slab stays in the
// second-level cache while all weights are read. With several slabs, the weights are read once for
// each slab. With a single slab, the input is read once for each strip of output channels. If the
// weights are large, plan chooses several slabs only if this reads less.
func (c *conv) plan() {
	limit, panels := tileLimits()
	c.columns = split(c.OutW, limit)
	c.blocks = c.width
	if c.Terms > 0 {
		most := max(1, c.Terms/(c.KH*c.KW*c.InBlock))
		c.blocks = ceil(c.width, ceil(c.width, most))
	}
	c.strips = ceil(c.outBlocks(), panels)
	c.input = c.width * c.InH * c.InW * c.InBlock
	c.lines = c.OutH
	if c.OutH == 1 {
		c.lines = c.columns.tiles
	}
	c.together = 1
	if c.N >= manyImages && max(c.OutH, c.OutW) <= fewColumns {
		c.together = c.N
	}
	slabs := 1
	if n := ceil(c.input, slabInput); c.together == 1 && (len(c.weights) <= smallWeights || len(c.weights)*n < c.input*c.strips) {
		slabs = n
	}
	if c.ep.Then != nil {
		slabs = max(slabs, ceil(16*c.OutH*c.OutW, slabThen))
	}
	band := 1
	if c.OutH > 1 {
		work := int64(16*c.OutH*c.OutW*c.outBlocks()) * int64(c.depth)
		shares := min(manyBands, 1+work/bandWork)
		band = min(limit, max(lowestBand, c.OutH*c.strips/int(shares)))
	}
	slabs = min(slabs, c.lines)
	c.bands = divide(c.lines, ceil(ceil(c.lines, band), slabs)*slabs)
	c.slab = ceil(c.bands.tiles, slabs)
	times := c.bands.at(c.slab)
	if c.OutH > 1 {
		times *= c.columns.tiles
	}
	if c.together > 1 {
		times *= split(c.together, limit).tiles
	}
	c.fetch = fetchFor(len(c.weights), times)
}

// Part implements [rt.Task]. It computes part i of `parts` of the output. The output of each image
// is divided into strips of channels and bands of rows.
func (c *conv) Part(i, parts int) {
	g := grid{
		images: c.N / c.together, strips: c.strips, lines: c.bands.tiles,
		weights: int64(len(c.weights)), inputs: int64(c.N) * int64(c.input),
		work: int64(c.N*c.outBlocks()*c.OutH*c.OutW*16) * int64(c.depth),
	}
	g.portion(i, parts, c.area)
}

// area computes bands [b0, b1) of rows and strips [s0, s1) of channels of an image's output, slab
// by slab. A slab is several bands that are computed for all strips before the next slab. If the
// convolution treats several images as one, image is the first of them.
func (c *conv) area(image, b0, b1, s0, s1 int) {
	_, panels := tileLimits()
	t := c.tile()
	for b := b0; b < b1; b += c.slab {
		end := min(b+c.slab, b1)
		last := min(s1*panels, c.outBlocks())
		for o := s0 * panels; o < last; o += t.panels {
			t.panels = min(panels, last-o)
			if t.panels == 2 && !c.alike(o, o+1) {
				t.panels = 1
			}
			// The memory after the last weights may belong to the next operator.
			next := o + t.panels
			if next == last && (end < b1 || image+c.together < c.N) {
				next = s0 * panels
			}
			t.atNext = 64 * c.depth * next
			c.strip(&t, image, o, c.bands.at(b), c.bands.at(end))
		}
	}
}

// alike reports whether the output blocks o and p depend on the same input blocks.
func (c *conv) alike(o, p int) bool {
	if c.Group == 1 {
		return true
	}
	from, to := c.reach(o)
	first, last := c.reach(p)
	return from == first && to == last
}

// tile returns a tile in which the fields that are the same for all tiles are set.
func (c *conv) tile() tile {
	return tile{c: start(c.dst), panelC: 64 * c.places.plane, fetch: c.fetch}
}

// strip computes lines [l0, l1) of the output, for the output blocks of the tile's panels. The
// first of these blocks is o.
func (c *conv) strip(t *tile, image, o, l0, l1 int) {
	y0, y1, x0, x1 := l0, l1, 0, c.OutW
	if c.OutH == 1 {
		y0, y1, x0, x1 = 0, 1, c.columns.at(l0), c.columns.at(l1)
	}
	plane := (image*c.outBlocks() + o) * c.places.plane
	for y := (span{to: y0}); y.to < y1; {
		y = c.down.span(y.to, y1)
		for x := (span{to: x0}); x.to < x1; {
			x = c.across.span(x.to, x1)
			if c.OutH == 1 {
				x.to = c.unmoved(x)
			}
			upright := c.upright(y, x.to-x.from)
			for z := y; z.from < y.to; z.from = z.to {
				if z.to = y.to; c.together > 1 {
					z.to = z.from + 1
				} else if upright {
					z.to = min(y.to, c.bands.at(c.bands.tile(z.from)+1))
				}
				t.atC, t.atBias = 64*(plane+c.places.first+z.from*c.places.below+x.from*c.places.beside), 64*o
				c.region(t, image, o, z, x, upright)
			}
		}
	}
	if c.ep.Then == nil && c.ep.zeroStays() {
		return
	}
	from, to := y0*c.OutW+x0, (y1-1)*c.OutW+x1
	for i := range c.together {
		for p := range t.panels {
			at := 16 * (plane + (i*c.outBlocks()+p)*c.places.plane + from)
			c.ep.then(c.dst, at, to-from, 16, 16)
			if o+p == c.outBlocks()-1 {
				c.ep.rezero(c.dst[at:][:16*(to-from)], c.OutC%16)
			}
		}
	}
}

// upright reports whether the tiles of a region lie along its columns instead of its rows. It chooses
// the direction that needs fewer tiles. The region has rows y, with `wide` outputs each.
//
// The order of a sum depends on the height of its tile. For equal results with any number of threads,
// neither the result of upright nor the start of a tile may depend on how the work is divided.
func (c *conv) upright(y span, wide int) bool {
	high := c.down.whole(y)
	limit, _ := tileLimits()
	return ceil(wide, limit)*high > min(high, c.bands.tiles)*wide
}

// unmoved shortens x, a range of outputs in a single row, and returns its new end. If no window of
// the row extends into padding, x is not shortened. Otherwise x ends at the end of the tile that
// contains its first output. Tiles then start at the same positions however the row is divided
// among threads.
func (c *conv) unmoved(x span) int {
	if c.across.from == 0 && c.across.to == c.OutW {
		return x.to
	}
	return min(x.to, c.columns.at(c.columns.tile(x.from)+1))
}

// region computes the outputs in rows y and columns x, for the output blocks of the tile's panels.
// The first of these is output block o. All windows in the region have the same taps. upright is
// the result of [conv.upright].
func (c *conv) region(t *tile, image, o int, y, x span, upright bool) {
	if y.taps()*x.taps() == 0 {
		t.zero()
		c.ep.fillPart(t, true, true)
		c.pixels(t, y, x, 0, 0, upright)
		return
	}
	pixel := 4 * c.InBlock
	row, plane := pixel*c.InW, pixel*c.InW*c.InH
	t.a, t.b, t.rowA, t.panelB = start(c.src), start(c.weights), c.StrideW*pixel, 64*c.depth
	first, last := c.reach(o)
	for from := first; from < last; from += c.blocks {
		to := min(from+c.blocks, last)
		t.atA = (image*c.inBlocks()+from)*plane + c.down.inside(y)*row + c.across.inside(x)*pixel
		t.atB = 64 * (o*c.depth + (from-first)*c.taps.all*c.InBlock)
		c.window(t, to-from, y, x)
		c.ep.fillPart(t, from == first, to == last)
		c.pixels(t, y, x, c.StrideH*row, c.inBlocks()*plane, upright)
	}
}

// pixels runs the tiles of a region. downA is the distance in bytes between the inputs of adjacent
// rows of outputs. imageA is the distance in bytes between the inputs of adjacent images.
func (c *conv) pixels(t *tile, y, x span, downA, imageA int, upright bool) {
	atC, rowA := t.atC, t.rowA // which area moves and exchanges
	t.rowC = 64 * c.places.beside
	if c.together > 1 {
		t.area(c.together, x.to-x.from, imageA, 64*c.outBlocks()*c.places.plane, true)
	} else {
		t.area(y.to-y.from, x.to-x.from, downA, 64*c.places.below, upright)
	}
	t.atC, t.rowA = atC, rowA
}

// window sets the loops of a tile. They go over `blocks` input blocks and over the taps of a window.
// All outputs in rows y and columns x have windows with the same taps. window also moves the tile's
// position in the weights to the first of these taps.
func (c *conv) window(t *tile, blocks int, y, x span) {
	pixel := 4 * c.InBlock
	row, plane := pixel*c.InW, pixel*c.InW*c.InH
	kh, kw, tap := y.taps(), x.taps(), 64*c.InBlock // bytes of the weights of a tap
	down, across := c.DilH*row, c.DilW*pixel
	firstY, firstX := y.first, x.first
	if c.taps.back {
		t.atA += (kh-1)*down + (kw-1)*across
		down, across = -down, -across
		firstY, firstX = c.KH-y.last, c.KW-x.last
	}
	at := c.taps.first + firstY*c.taps.below*c.taps.row + firstX*c.taps.beside
	t.atB += at * tap
	wide := (kw-1)*c.taps.beside + 1 // from the first tap of a row to behind the last
	skip := (c.taps.below*c.taps.row - wide) * tap
	all := (c.taps.all - (kh-1)*c.taps.below*c.taps.row - wide) * tap
	switch oneRun := across == pixel && c.taps.beside == 1; {
	case c.taps.all == 1 && c.InBlock == 1:
		t.loops(blocks, [3]int{1, 1, 1}, [3]int{})
		t.apart, t.skipB = plane, [3]int{}
	case oneRun:
		t.loops(kw*c.InBlock, [3]int{kh, blocks, 1}, [3]int{down, plane, 0})
		t.skipB = [3]int{skip, all, 0}
	default:
		t.loops(c.InBlock, [3]int{kw, kh, blocks}, [3]int{across, down, plane})
		t.skipB = [3]int{(c.taps.beside - 1) * tap, skip, all}
	}
}
