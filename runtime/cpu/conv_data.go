package cpu

import "github.com/burngen/burngen/runtime/rt"

// PackConvData packs the weights of a convolution with one group for [ConvData]. w is
// f32[OutC][InC][KH][KW], and dst is f32[⌈InC/16⌉][⌈OutC/16⌉][KH][KW][16][16], padded with zeros.
// PackConvData does not use the sizes, strides, dilations and padding of the shape.
func PackConvData(dst, w []float32, s *ConvShape) {
	s.checkData()
	p := dataPacking{ConvShape: *s}
	p.w = w[:volume(s.OutC, s.InC, s.KH, s.KW)]
	p.dst = dst[:volume(ceil(s.InC, 16), s.outBlocks(), s.KH, s.KW, 256)]
	if !packsOfData.run(&p, partsFor(0, 4*int64(len(p.dst)+len(p.w)))) {
		p.Part(0, 1)
	}
}

// checkData panics unless Group is 1. The numbers of channels and the size of the window must also
// be positive.
func (s *ConvShape) checkData() {
	if min(s.InC, s.OutC, s.KH, s.KW) < 1 || s.Group != 1 {
		panic("cpu: the gradient of no convolution, or of groups")
	}
}

type dataPacking struct {
	ConvShape
	dst, w []float32
}

var packsOfData slot[dataPacking, *dataPacking]

func (p *dataPacking) Part(i, parts int) {
	taps, outs := p.KH*p.KW, p.outBlocks()
	from, to := portion(ceil(p.InC, 16)*outs, i, parts)
	for ; from < to; from++ {
		c, o := 16*(from/outs), 16*(from%outs)
		block := p.dst[from*taps*256:][:taps*256]
		lanes, rows := min(16, p.InC-c), min(16, p.OutC-o)
		if min(lanes, rows) < 16 {
			clear(block)
		}
		for row := range rows {
			transpose(block[16*row:], p.w[((o+row)*p.InC+c)*taps:], lanes, taps, 256, taps)
		}
	}
}

// ConvData computes the gradient of the input of the convolution s, and writes it to dst,
// f32[N][⌈InC/16⌉][InH][InW][16]. g is the gradient of the convolution's result,
// f32[N][⌈OutC/16⌉][OutH][OutW][16]. The weights are packed by [PackConvData]. Group must be 1. On
// each axis, the stride or the dilation must be 1. Sums are in float32. Their order depends on
// [CurrentLevel]. Channels beyond InC are zero in dst if channels of g beyond OutC are finite.
func ConvData(dst, g, weights []float32, s *ConvShape) {
	if s.N <= 0 || s.InH <= 0 || s.InW <= 0 {
		return
	}
	d := newConvData(dst, g, weights, s)
	if s.KH < s.StrideH || s.KW < s.StrideW || len(d.g) == 0 {
		clear(d.dst) // cells that no window contains
	}
	if len(d.g) == 0 {
		return
	}
	work := int64(len(d.g)) * int64(len(d.weights)/d.outBlocks()/16)
	parts := datas.runUntil(s.Ctx, &d, nanoseconds(work, 4*int64(len(d.g)+len(d.dst)+len(d.weights))))
	for i := range parts {
		rt.EndIfDone(s.Ctx)
		d.Part(i, parts)
	}
}

// newConvData returns the state of a ConvData. It panics unless the operands fit the shape.
func newConvData(dst, g, weights []float32, s *ConvShape) convData {
	s.checkData()
	if min(s.StrideH, s.StrideW, s.DilH, s.DilW) < 1 || min(s.PadH, s.PadW, s.OutH, s.OutW) < 0 ||
		s.StrideH > 1 && s.DilH > 1 || s.StrideW > 1 && s.DilW > 1 {
		panic("cpu: the gradient of a convolution without steps, of negative size, or with steps and dilation")
	}
	d := convData{ConvShape: *s}
	d.flatten()
	d.dst = dst[:volume(s.N, ceil(s.InC, 16), s.InH, s.InW, 16)]
	d.g = g[:volume(s.N, s.outBlocks(), s.OutH, s.OutW, 16)]
	d.weights = weights[:volume(ceil(s.InC, 16), s.outBlocks(), s.KH, s.KW, 256)]
	return d
}

type convData struct {
	ConvShape
	dst, g, weights []float32
}

var datas slot[convData, *convData]

// Part implements [rt.Task]. It computes part i of `parts` of every phase. A phase is every
// StrideH-th row and every StrideW-th column of dst. It is computed as a convolution of g with
// every StrideH-th row and every StrideW-th column of the window, in reverse order.
func (d *convData) Part(i, parts int) {
	for down := range d.StrideH {
		for across := range d.StrideW {
			y := newPhase(d.InH, d.KH, d.StrideH, d.DilH, d.PadH, down)
			x := newPhase(d.InW, d.KW, d.StrideW, d.DilW, d.PadW, across)
			if min(y.taps, x.taps, y.count, x.count) > 0 {
				c := d.conv(y, x)
				c.Part(i, parts)
			}
		}
	}
}

// conv returns the convolution that computes some cells of dst: the cells in the rows of phase y
// and in the columns of phase x.
func (d *convData) conv(y, x phase) conv {
	c := conv{ConvShape: ConvShape{
		N: d.N, InC: d.OutC, InH: d.OutH, InW: d.OutW, InBlock: 16,
		OutC: d.InC, OutH: y.count, OutW: x.count, KH: y.taps, KW: x.taps,
		StrideH: 1, StrideW: 1, DilH: d.DilH, DilW: d.DilW, Group: 1, Terms: d.Terms,
	}, src: d.g, dst: d.dst, weights: d.weights}
	c.down = newAxis(d.OutH, y.count, y.taps, 1, d.DilH, y.pad, 0)
	c.across = newAxis(d.OutW, x.count, x.taps, 1, d.DilW, x.pad, 0)
	c.width = d.outBlocks()
	c.depth = d.KH * d.KW * 16 * c.width
	c.places = places{plane: d.InH * d.InW, first: y.first*d.InW + x.first, below: d.StrideH * d.InW, beside: d.StrideW}
	c.taps = taps{
		all: d.KH * d.KW, row: d.KW, first: y.tap*d.KW + x.tap,
		below: d.StrideH, beside: d.StrideW, back: true,
	}
	c.plan()
	return c
}

// phase is every stride-th cell of an axis, from one of the first `stride` cells on. The gradients of
// these cells are a convolution with every stride-th tap.
type phase struct {
	first, count int // cells: first, first+stride, …
	tap, taps    int // taps: tap, tap+stride, …; taps is their number
	pad          int // padding of the convolution
}

// newPhase returns phase i of an axis of n cells; 0 ≤ i < stride. dil is the dilation.
func newPhase(n, kernel, stride, dil, pad, i int) phase {
	p := phase{tap: i, taps: ceil(max(kernel-i, 0), stride), first: (i - pad) % stride}
	if p.first < 0 {
		p.first += stride
	}
	p.count = ceil(max(n-p.first, 0), stride)
	// The first cell is the first tap's of this window.
	p.pad = (p.taps-1)*dil - (p.first+pad-i)/stride
	return p
}
