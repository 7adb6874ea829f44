package cpu

import (
	"math"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// DepthwisePlanar is [DepthwiseConv] for planar tensors. src is f32[N][C][InH][InW], dst is
// f32[N][C][OutH][OutW], and weights is f32[C][KH][KW]. InBlock must be 1. The window must be small
// enough; see [FitsPlanar]. Sums are in float32, tap after tap, including taps on padding.
func DepthwisePlanar(dst, src, weights []float32, s *ConvShape, ep *Epilogue) {
	if s.N <= 0 || s.OutC <= 0 || s.OutH <= 0 || s.OutW <= 0 {
		return
	}
	if ep == nil {
		ep = &none
	}
	d := newDepthwisePlanar(dst, src, weights, s, ep)
	work := int64(len(d.dst)) * int64(s.KH*s.KW)
	parts := planarDepthwises.runUntil(s.Ctx, &d, nanoseconds(2*work, 4*int64(len(d.src)+len(d.dst))))
	for i := range parts {
		rt.EndIfDone(s.Ctx)
		d.Part(i, parts)
	}
}

// FitsPlanar reports whether [DepthwisePlanar] supports windows of this size.
func FitsPlanar(kh, kw, dilH, dilW, strideW int) bool {
	return kh*kw <= roomTaps && windowsAtOnce((kh-1)*dilH+1, (kw-1)*dilW, strideW) >= 16
}

// newDepthwisePlanar returns the planned state of a DepthwisePlanar. It panics unless the operands
// fit the shape and the window is small enough.
func newDepthwisePlanar(dst, src, weights []float32, s *ConvShape, ep *Epilogue) depthwisePlanar {
	s.checkWeights()
	s.axes()
	if !FitsPlanar(s.KH, s.KW, s.DilH, s.DilW, s.StrideW) {
		panic("cpu: a window that is too large for planes")
	}
	d := depthwisePlanar{ConvShape: *s, ep: *ep}
	d.src = src[:volume(s.N, s.InC, s.InH, s.InW)]
	d.dst = dst[:volume(s.N, s.OutC, s.OutH, s.OutW)]
	d.weights = weights[:volume(s.OutC, s.KH, s.KW)]
	ep.check(s.OutC, len(d.dst))
	d.depth, d.reach = (s.KH-1)*s.DilH+1, (s.KW-1)*s.DilW
	d.wide = min(s.OutW, windowsAtOnce(d.depth, d.reach, s.StrideW))
	p := newPhases(d.wide, d.reach, s.StrideW)
	d.bands = split(s.OutH, (roomLen/p.row-d.depth)/s.StrideH+1)
	return d
}

type depthwisePlanar struct {
	ConvShape
	dst, src, weights []float32
	ep                Epilogue
	depth, reach      int // rows of a window, and columns after its first
	wide              int // outputs of a row at once
	bands             rowSplit
}

var planarDepthwises slot[depthwisePlanar, *depthwisePlanar]

func (d *depthwisePlanar) Part(i, parts int) {
	var room [roomLen + 16]float32
	var taps [roomTaps]int
	from, to := portion(d.N*d.OutC*d.bands.tiles, i, parts)
	for x := 0; x < d.OutW; x += d.wide {
		n := min(d.wide, d.OutW-x)
		p := newPhases(n, d.reach, d.StrideW)
		for i := range taps[:d.KH*d.KW] {
			taps[i] = 4 * (i/d.KW*d.DilH*p.row + p.tap(i%d.KW*d.DilW))
		}
		clear(room[:])
		t := windowRows{
			src: unsafe.Pointer(unseen(&room)), taps: unsafe.Pointer(unseen(&taps)), count: d.KH * d.KW,
			n: n, dstRow: 4 * d.OutW, srcRow: 4 * d.StrideH * p.row, lo: float32(math.Inf(-1)), hi: Inf,
		}
		if lo, hi, ok := d.ep.limits(); ok {
			t.lo, t.hi = lo, hi
		}
		for unit := from; unit < to; unit++ {
			plane, band := unit/d.bands.tiles, unit%d.bands.tiles
			y, high := d.bands.at(band), d.bands.high(band)
			d.copy(room[:], &p, plane, x, y, high)
			at := (plane*d.OutH+y)*d.OutW + x
			d.sum(t, plane%d.OutC, at, high)
			d.ep.then(d.dst, at, high, n, d.OutW)
		}
	}
}

// copy copies a part of a plane to room: the rows and columns that the windows of `high` rows of
// outputs read. The first of these windows belongs to the output in row y and column x. room already
// contains the padding at both ends of the rows.
func (d *depthwisePlanar) copy(room []float32, p *phases, plane, x, y, high int) {
	first := x*d.StrideW - d.PadW
	begin, end := max(first, 0), min(first+p.row, d.InW)
	top := y*d.StrideH - d.PadH
	for r := range (high-1)*d.StrideH + d.depth {
		row := room[r*p.row:][:p.row]
		switch at := top + r; {
		case at < 0 || at >= d.InH:
			clear(row)
		case begin < end:
			p.spread(row, d.src[(plane*d.InH+at)*d.InW+begin:][:end-begin], begin-first)
		}
	}
}

// sum computes rows of a channel. The first result is dst[at].
func (d *depthwisePlanar) sum(t windowRows, channel, at, rows int) {
	t.rows = rows
	t.dst, t.weights = start(d.dst[at:]), start(d.weights[channel*t.count:])
	if d.ep.Residual != nil {
		t.residual = start(d.ep.Residual[at:])
	}
	if d.ep.Bias != nil {
		t.bias = d.ep.Bias[channel]
	}
	runWindowRows(&t)
}
