package cpu

// DepthwiseWeightsLen is the number of elements of a depthwise convolution's packed weights.
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

// DepthwiseConv computes a convolution in which each output channel has one input channel, the
// one of its own number: Group, InC and OutC are the same and InBlock is 16. The
// weights come from PackDepthwise. Sums are in float32, tap after tap. Channels beyond
// OutC are zero in dst, if they are in the bias and the residual.
func DepthwiseConv(dst, src, weights []float32, s *ConvShape, ep *Epilogue) {
	if s.N <= 0 || s.OutC <= 0 || s.OutH <= 0 || s.OutW <= 0 {
		return
	}
	if ep == nil {
		ep = &none
	}
	s.checkWeights()
	s.checkWindows()
	d := depthwise{ConvShape: *s, ep: *ep, blocks: s.outBlocks()}
	d.src = src[:volume(s.N, d.blocks, s.InH, s.InW, 16)]
	d.dst = dst[:volume(s.N, d.blocks, s.OutH, s.OutW, 16)]
	d.weights = weights[:volume(d.blocks, s.KH, s.KW, 16)]
	ep.check(s.OutC, len(d.dst))
	work := int64(len(d.dst)) * int64(s.KH*s.KW)
	if !depthwises.run(&d, partsFor(work, 4*int64(len(d.src)+len(d.dst)))) {
		d.Part(0, 1)
	}
}

// depthwise is a DepthwiseConv under way.
type depthwise struct {
	ConvShape
	dst, src, weights []float32
	ep                Epilogue
	blocks            int
}

var depthwises slot[depthwise, *depthwise]

// Part does the i-th of parts shares of the rows of all channel blocks.
func (d *depthwise) Part(i, parts int) {
	from, to := portion(d.N*d.blocks*d.OutH, i, parts)
	for from < to {
		plane := from / d.OutH
		first := plane * d.OutH
		end := min(to, first+d.OutH)
		d.rows(plane, from-first, end-first)
		from = end
	}
}

// rows computes rows y0…y1 of one channel block of one image.
func (d *depthwise) rows(plane, y0, y1 int) {
	t := tile{a: start(d.src), b: start(d.weights), c: start(d.dst), bias: start(d.ep.Bias), residual: start(d.ep.Residual), panels: 1}
	d.ep.fill(&t)
	in, out := 64*d.InW, 64*d.OutW // of a row
	t.rowA, t.rowC = 64*d.StrideW, 64
	t.loops(16, [3]int{d.KW, d.KH, 1}, [3]int{64 * d.DilW, in * d.DilH, 0})
	block := plane % d.blocks
	t.atA, t.atC = (plane*d.InH+y0*d.StrideH)*in, (plane*d.OutH+y0)*out
	t.atB, t.atBias = 64*block*d.KH*d.KW, 64*block
	at, pixels := t.atC/4, (y1-y0)*d.OutW
	t.sweep(weightedSum, y1-y0, split(d.OutW, windowLimit()), in*d.StrideH, out)
	d.ep.then(d.dst, at, pixels, 16, 16)
	if block == d.blocks-1 {
		d.ep.rezero(d.dst[at:][:16*pixels], d.OutC%16)
	}
}
