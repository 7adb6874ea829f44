package cpu

import "github.com/burngen/burngen/runtime/rt"

// DepthwiseWeightsLen returns the number of elements of the packed weights of a depthwise
// convolution.
func DepthwiseWeightsLen(s *ConvShape) int { return s.outBlocks() * s.KH * s.KW * 16 }

// PackDepthwise packs the weights of a depthwise convolution, f32[C][1][KH][KW], into
// f32[⌈C/16⌉][KH][KW][16].
func PackDepthwise(dst, w []float32, s *ConvShape) {
	kernel := s.KH * s.KW
	dst = dst[:volume(s.outBlocks(), kernel, 16)]
	w = w[:volume(s.OutC, kernel)]
	clear(dst)
	for c := range s.OutC {
		for k, v := range w[c*kernel:][:kernel] {
			dst[(c/16*kernel+k)*16+c%16] = v
		}
	}
}

// DepthwiseConv computes a depthwise convolution, in which Group, InC and OutC are equal. InBlock
// must be 16. The weights are packed by [PackDepthwise]. Sums are in float32, tap after tap.
// Channels beyond OutC are zero in dst if they are zero in the bias and the residual.
func DepthwiseConv(dst, src, weights []float32, s *ConvShape, ep *Epilogue) {
	if s.N <= 0 || s.OutC <= 0 || s.OutH <= 0 || s.OutW <= 0 {
		return
	}
	if ep == nil {
		ep = &none
	}
	d := newDepthwise(dst, src, weights, s, ep)
	work := int64(len(d.dst)) * int64(s.KH*s.KW)
	parts := depthwises.runUntil(s.Ctx, &d, nanoseconds(work, 4*int64(len(d.src)+len(d.dst))))
	for i := range parts {
		rt.EndIfDone(s.Ctx)
		d.Part(i, parts)
	}
}

// newDepthwise returns the state of a DepthwiseConv. It panics unless the operands fit the shape.
func newDepthwise(dst, src, weights []float32, s *ConvShape, ep *Epilogue) depthwise {
	s.checkWeights()
	d := depthwise{ConvShape: *s, ep: *ep, blocks: s.outBlocks()}
	d.down, d.across = s.axes()
	d.src = src[:volume(s.N, d.blocks, s.InH, s.InW, 16)]
	d.dst = dst[:volume(s.N, d.blocks, s.OutH, s.OutW, 16)]
	d.weights = weights[:volume(d.blocks, s.KH, s.KW, 16)]
	ep.check(s.OutC, len(d.dst))
	return d
}

type depthwise struct {
	ConvShape
	dst, src, weights []float32
	ep                Epilogue
	blocks            int
	down, across      axis
}

var depthwises slot[depthwise, *depthwise]

// Part implements [rt.Task]. It computes part i of `parts` of the rows of all channel blocks.
func (d *depthwise) Part(i, parts int) {
	limit := planesAtOnce(16 * d.InH * d.InW)
	if d.ep.Then != nil {
		limit = max(1, min(limit, slabThen/(16*d.OutH*d.OutW)))
	}
	from, to := portion(d.N*d.blocks*d.OutH, i, parts)
	for from < to {
		plane := from / d.OutH
		first := plane * d.OutH
		if planes := min((to-from)/d.OutH, limit, d.blocks-plane%d.blocks); from == first && planes > 0 {
			d.area(plane, planes, 0, d.OutH)
			from += planes * d.OutH
			continue
		}
		end := min(to, first+d.OutH)
		d.area(plane, 1, from-first, end-first)
		from = end
	}
}

// area computes rows [y0, y1) of channel blocks [plane, plane+planes). The blocks belong to the
// same image.
func (d *depthwise) area(plane, planes, y0, y1 int) {
	for y := (span{to: y0}); y.to < y1; {
		y = d.down.span(y.to, y1)
		for x := (span{}); x.to < d.OutW; {
			x = d.across.span(x.to, d.OutW)
			d.region(plane, planes, y, x)
		}
	}
	size := 16 * d.OutH * d.OutW
	for p := plane; p < plane+planes; p++ {
		at, pixels := p*size+16*y0*d.OutW, (y1-y0)*d.OutW
		d.ep.then(d.dst, at, pixels, 16, 16)
		if p%d.blocks == d.blocks-1 {
			d.ep.rezero(d.dst[at:][:16*pixels], d.OutC%16)
		}
	}
}

// region computes the pixels in rows y and columns x of channel blocks [plane, plane+planes). The windows of these
// pixels have the same taps.
func (d *depthwise) region(plane, planes int, y, x span) {
	t := tile{a: start(d.src), b: start(d.weights), c: start(d.dst), bias: start(d.ep.Bias), residual: start(d.ep.Residual), panels: 1}
	d.ep.fill(&t)
	in, out, block := 64*d.InW, 64*d.OutW, plane%d.blocks // bytes of a row
	t.rowA, t.rowC = 64*d.StrideW, 64
	t.atC, t.atBias = (plane*d.OutH+y.from)*out+64*x.from, 64*block
	down, next := step{c: out}, step{c: d.OutH * out, bias: 64}
	if x.taps()*y.taps() == 0 {
		t.zero()
	} else {
		t.loops(16, [3]int{x.taps(), y.taps(), 1}, [3]int{64 * d.DilW, in * d.DilH, 0})
		t.skipB[1] = 64 * (d.KW - x.taps())
		t.atA = (plane*d.InH+d.down.inside(y))*in + 64*d.across.inside(x)
		t.atB = 64 * ((block*d.KH+y.first)*d.KW + x.first)
		down.a, next.a, next.b = d.StrideH*in, d.InH*in, 64*d.KH*d.KW
	}
	t.sweep(weightedSum, planes, y.to-y.from, x.to-x.from, down, next)
}
