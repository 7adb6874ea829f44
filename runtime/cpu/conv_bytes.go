package cpu

import "github.com/burngen/burngen/runtime/rt"

// ConvBytes computes a convolution of bytes. src is uint8[N][⌈InC/InBlock⌉][InH][InW][InBlock] with
// InBlock 16 or 4, and includes the padding. dst is uint8[N][⌈OutC/16⌉][OutH][OutW][16]. The
// weights are packed by [PackConvBytes].
//
// The sums are requantised as by [ProductInteger]. scale and bias have one element, or one for each
// of OutC channels; bias may be nil. `last` has one element, or is nil, which means 0. Channels
// beyond OutC are last[0], clamped.
//
// If passes is 1, each weight is packed once. If passes is 2, a weight is the sum of two packed
// weights. Each block of output channels then has two sets of packed weights, one after the other,
// and DilW must be 1.
func ConvBytes(dst, src []uint8, weights []int8, bias []int32, scale []float64, last []int32, s *ConvShape, passes, lo, hi int) {
	if s.N <= 0 || s.OutC <= 0 || s.OutH <= 0 || s.OutW <= 0 {
		return
	}
	s.checkWeights()
	s.checkWindows()
	c := convBytes{ConvShape: *s, bias: bias, requantised: requantise(scale, last, lo, hi, s.OutC), width: s.width()}
	if len(bias) > 1 && len(bias) < s.OutC {
		panic("cpu: a convolution with too few channels")
	}
	if c.passes = passes; passes < 1 || passes > 1 && s.DilW != 1 {
		panic("cpu: a convolution of so many passes")
	}
	c.depth = s.depth(c.width) / 4 * passes
	c.src = src[:volume(s.N, s.inBlocks(), s.InH, s.InW, s.InBlock)]
	c.dst = dst[:volume(s.N, s.outBlocks(), s.OutH, s.OutW, 16)]
	c.weights = weights[:volume(s.outBlocks(), c.depth, 64)]
	if s.KH == 1 && s.KW == 1 && s.StrideH == 1 && s.StrideW == 1 && s.InH == s.OutH && s.InW == s.OutW {
		c.InH, c.InW, c.OutH, c.OutW = 1, s.InH*s.InW, 1, s.OutH*s.OutW
	}
	c.plan()
	work := int64(len(c.dst)) * int64(4*c.depth)
	parts := convsOfBytes.runUntil(s.Ctx, &c, nanoseconds(work/byteSpeed(), int64(len(c.src)+len(c.dst)+len(c.weights))))
	for i := range parts {
		rt.EndIfDone(s.Ctx)
		c.Part(i, parts)
	}
}

// requantise describes the conversion of sums to bytes. `last` holds the zero point; nil means 0.
// requantise panics unless scale has one element or at least one for each channel.
func requantise(scale []float64, last []int32, lo, hi, channels int) requantised {
	if len(scale) == 0 || len(scale) > 1 && len(scale) < channels {
		panic("cpu: an integer product with too few scales")
	}
	r := requantised{scale: scale, lo: lo, hi: hi}
	if len(last) > 0 {
		r.last = int(last[0])
	}
	return r
}

// PackConvBytes packs the weights of a convolution of bytes. w is [OutC][InC/Group][KH][KW], and
// dst is int8[⌈OutC/16⌉][B][KH][KW][InBlock/4][16][4]. It is like [PackConv], except that the
// weights of four successive input channels, for one output channel, are next to each other. uint8
// weights are shifted by −128.
func PackConvBytes[S Byte](dst []int8, w []S, s *ConvShape) {
	s.checkWeights()
	width := s.width()
	depth := s.depth(width)
	to := bytesOf(dst[:volume(s.outBlocks(), depth, 16)])
	clear(to)
	in, out, kernel := s.InC/s.Group, s.OutC/s.Group, s.KH*s.KW
	from, change := bytesOf(w[:volume(s.OutC, in, kernel)]), flip[int8, S]()
	for o := range s.OutC {
		first := s.first(o/16, width) * s.InBlock
		for i := range in {
			c := o/out*in + i - first
			at := o/16*depth + c/s.InBlock*kernel*s.InBlock + c%s.InBlock
			for k, v := range from[(o*in+i)*kernel:][:kernel] {
				place := at + k*s.InBlock
				to[place/4*64+o%16*4+place%4] = v ^ change
			}
		}
	}
}

type convBytes struct {
	ConvShape
	requantised
	dst, src []byte
	weights  []int8
	bias     []int32

	passes       int
	width, depth int      // see ConvShape; the depth counts groups of four in all passes
	columns      rowSplit // of a row of the output
	strips       int      // output blocks, in strips of as many as a tile has panels
	lines        int      // rows of the output, or tiles if there is a single row
	slab         int      // lines that all strips do before the next lines
	input        int      // bytes of one image's input
}

var convsOfBytes slot[convBytes, *convBytes]

// plan chooses the number of output lines in a slab. The input of a slab stays in the second-level
// cache while all output channels are computed.
func (c *convBytes) plan() {
	limit, panels := byteLimits()
	c.columns = split(c.OutW, limit)
	c.strips = ceil(c.outBlocks(), panels)
	c.input = c.width * c.InH * c.InW * c.InBlock
	c.lines = c.OutH
	if c.OutH == 1 {
		c.lines = c.columns.tiles
	}
	c.slab = ceil(c.lines, ceil(c.input, slabBytes))
}

// Part implements [rt.Task]. It computes part i of `parts` of the output. The output of each image
// is divided into strips of channels and lines of pixels.
func (c *convBytes) Part(i, parts int) {
	g := grid{
		images: c.N, strips: c.strips, lines: c.lines,
		weights: int64(len(c.weights)) / 4, inputs: int64(c.N) * int64(c.input) / 4,
		work: int64(len(c.dst)) * int64(4*c.depth) / byteSpeed(),
	}
	g.portion(i, parts, c.area)
}

// area computes lines [l0, l1) and strips [s0, s1) of the output for one image, slab by slab. A
// slab is several lines that are computed for all strips before the next slab.
func (c *convBytes) area(image, l0, l1, s0, s1 int) {
	_, panels := byteLimits()
	var columns byteColumns
	t := c.tile()
	t.columns = unseen(&columns)
	for l := l0; l < l1; l += c.slab {
		end := min(l+c.slab, l1)
		for o := s0 * panels; o < min(s1*panels, c.outBlocks()); o += panels {
			count := min(panels, c.outBlocks()-o)
			if count == 2 && c.first(o, c.width) != c.first(o+1, c.width) {
				count = 1
				c.strip(&t, &columns, image, o+1, 1, l, end)
			}
			c.strip(&t, &columns, image, o, count, l, end)
		}
	}
}

// tile returns a tile in which the fields that are the same for all tiles are set.
func (c *convBytes) tile() tile {
	t := tile{
		a: pointer(c.src), b: pointer(c.weights), c: pointer(c.dst),
		panelB: 64 * c.depth, panelC: 16 * c.OutH * c.OutW, kind: bytesKind,
	}
	c.fill(&t)
	pixel := c.InBlock
	row, plane := pixel*c.InW, pixel*c.InW*c.InH
	t.rowA, t.rowC = c.StrideW*pixel, 16
	if c.DilW == 1 {
		t.loops(c.KW*pixel/4, [3]int{c.KH, c.width, c.passes}, [3]int{c.DilH * row, plane, 0})
	} else {
		t.loops(pixel/4, [3]int{c.KW, c.KH, c.width}, [3]int{c.DilW * pixel, c.DilH * row, plane})
	}
	return t
}

// strip computes lines [l0, l1) of the output for `count` panels. The first panel belongs to output
// block o.
func (c *convBytes) strip(t *tile, columns *byteColumns, image, o, count, l0, l1 int) {
	t.panels = count
	*columns = byteColumns{}
	width := min(16*count, c.OutC-16*o)
	spread(columns.first[:width], c.bias, 16*o)
	columns.setScale(c.scale, 16*o, width)

	row := c.InBlock * c.InW
	in := (image*c.inBlocks() + c.first(o, c.width)) * c.InH * row
	plane := (image*c.outBlocks() + o) * c.OutH * c.OutW // of the output, in pixels
	t.atB = 64 * o * c.depth
	from := l0 * c.OutW
	if c.OutH == 1 {
		from = c.columns.at(l0)
		t.atA, t.atC = in+from*t.rowA, 16*(plane+from)
		t.cover(c.columns, l0, l1)
		return
	}
	// Tiles go down, so that a kernel's rows are read once.
	t.nextA, t.nextC = c.StrideH*row, 16*c.OutW
	for i := range c.columns.tiles {
		x := c.columns.at(i)
		t.atA, t.atC = in+l0*t.nextA+x*t.rowA, 16*(plane+from+x)
		t.repeat(c.columns.high(i), l1-l0)
	}
}

// checkWindows panics unless the windows are inside the input.
func (s *ConvShape) checkWindows() {
	if min(s.StrideH, s.StrideW, s.DilH, s.DilW) < 1 {
		panic("cpu: a convolution without steps")
	}
	if volume(s.OutH-1, s.StrideH)+volume(s.KH-1, s.DilH) >= s.InH ||
		volume(s.OutW-1, s.StrideW)+volume(s.KW-1, s.DilW) >= s.InW {
		panic("cpu: a window of a convolution leaves its input")
	}
}
