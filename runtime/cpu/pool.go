package cpu

import (
	"context"

	"github.com/burngen/burngen/runtime/rt"
)

import "math"

// PoolShape describes a MaxPool or AveragePool on f32[N][C][InH][InW][Block]. Cells outside of the
// input are padding. They are not stored.
type PoolShape struct {
	N, C             int // C counts blocks of Block channels
	InH, InW         int
	OutH, OutW       int // include the rounding down or up
	KH, KW           int
	StrideH, StrideW int
	DilH, DilW       int
	PadH, PadW       int  // cells before the first
	EndH, EndW       int  // cells after the last
	Block            int  // 16 for blocked tensors, 1 for planar ones
	CountPad         bool // see AveragePool
	// Ctx ends the call early; may be nil. See Until.
	Ctx context.Context
}

// MaxPool computes the maximum of each window (ONNX MaxPool). It is −Inf for a window that holds
// only padding. If a window has a NaN, the result is either NaN or the maximum of the elements
// after the last NaN.
func MaxPool(dst, src []float32, s *PoolShape) { s.pool(dst, src, largest) }

// AveragePool computes the mean of each window (ONNX AveragePool). The mean is the sum divided by
// the number of cells inside the input. If CountPad is set, cells of the padding also count. Cells
// beyond the padding never count. The mean of no cells is zero.
func AveragePool(dst, src []float32, s *PoolShape) { s.pool(dst, src, scaledSum) }

// pool computes dst from the windows of src. op is the operation that combines the elements of a
// window.
func (s *PoolShape) pool(dst, src []float32, op windowOp) {
	if s.N <= 0 || s.C <= 0 || s.OutH <= 0 || s.OutW <= 0 {
		return
	}
	if min(s.InH, s.InW, s.KH, s.KW, s.StrideH, s.StrideW, s.DilH, s.DilW) < 1 || min(s.PadH, s.PadW, s.EndH, s.EndW) < 0 {
		panic("cpu: a pool of negative or no size")
	}
	if s.Block != 1 && s.Block != 16 {
		panic("cpu: a pool of a tensor that is neither blocked nor planar")
	}
	p := pool{PoolShape: *s, op: op}
	p.src = src[:volume(s.N, s.C, s.InH, s.InW, s.Block)]
	p.dst = dst[:volume(s.N, s.C, s.OutH, s.OutW, s.Block)]
	work := int64(len(p.dst)) * int64(s.KH*s.KW)
	if s.Block == 1 && level == Generic {
		work *= 16
	}
	parts := pools.runUntil(s.Ctx, &p, nanoseconds(work, 4*int64(len(p.src)+len(p.dst))))
	for i := range parts {
		rt.EndIfDone(s.Ctx)
		p.Part(i, parts)
	}
}

// pool is the state of a running MaxPool or AveragePool.
type pool struct {
	PoolShape
	dst, src []float32
	op       windowOp
}

var pools slot[pool, *pool]

// Part implements [rt.Task]. It computes part i of `parts` of the work. The work is divided by rows
// of channel blocks or, for a planar tensor, by channels.
func (p *pool) Part(i, parts int) {
	rows := 1
	if p.Block == 16 {
		rows = p.OutH
	}
	from, to := portion(p.N*p.C*rows, i, parts)
	limit := planesAtOnce(p.InH * p.InW * p.Block)
	for from < to {
		plane := from / rows
		first := plane * rows
		if planes := min((to-from)/rows, limit); from == first && planes > 0 {
			p.area(plane, planes, 0, p.OutH)
			from += planes * rows
			continue
		}
		end := min(to, first+rows)
		p.area(plane, 1, from-first, end-first)
		from = end
	}
}

// area computes rows [y0, y1) of planes [plane, plane+planes).
func (p *pool) area(plane, planes, y0, y1 int) {
	down := newAxis(p.InH, p.OutH, p.KH, p.StrideH, p.DilH, p.PadH, p.EndH)
	across := newAxis(p.InW, p.OutW, p.KW, p.StrideW, p.DilW, p.PadW, p.EndW)
	for y := (span{to: y0}); y.to < y1; {
		y = down.span(y.to, y1)
		if p.Block == 1 && p.planes(plane, planes, y, &across) {
			continue
		}
		for x := (span{}); x.to < p.OutW; {
			x = across.span(x.to, p.OutW)
			p.region(plane, planes, y, x)
		}
	}
}

// planesAtOnce returns the number of planes, each of `elements` elements, that fit a second-level
// cache. It returns at least 1.
func planesAtOnce(elements int) int { return max(1, slabInput/max(1, elements)) }

// region computes the outputs in rows y and columns x of planes [from, from+planes). The windows of
// all these outputs have the same taps.
func (p *pool) region(from, planes int, y, x span) {
	high, wide := y.to-y.from, x.to-x.from
	kh, kw := y.taps(), x.taps()
	divisor := kh * kw
	if p.CountPad {
		divisor = y.counted * x.counted
	}
	scale := 1 / float32(max(divisor, 1))
	in := (y.from*p.StrideH-p.PadH+y.first*p.DilH)*p.InW + x.from*p.StrideW - p.PadW + x.first*p.DilW
	out := y.from*p.OutW + x.from
	inPlane, outPlane := p.InH*p.InW, p.OutH*p.OutW
	switch {
	case kh*kw == 0:
		value := float32(0)
		if p.op == largest {
			value = float32(math.Inf(-1))
		}
		for i := from; i < from+planes; i++ {
			for row := range high {
				part := p.dst[(i*outPlane+out+row*p.OutW)*p.Block:][:wide*p.Block]
				for j := range part {
					part[j] = value
				}
			}
		}
	case p.Block == 16:
		t := tile{a: start(p.src), c: start(p.dst), panels: 1, scale: scale}
		t.rowA, t.rowC = 64*p.StrideW, 64
		t.loops(16, [3]int{kw, kh, 1}, [3]int{64 * p.DilW, 64 * p.DilH * p.InW, 0})
		t.atA, t.atC = 64*(from*inPlane+in), 64*(from*outPlane+out)
		t.sweep(p.op, planes, high, wide, step{a: 64 * p.StrideH * p.InW, c: 64 * p.OutW}, step{a: 64 * inPlane, c: 64 * outPlane})
	default:
		for i := from; i < from+planes; i++ {
			for row := range high {
				src := p.src[i*inPlane+in+row*p.StrideH*p.InW:]
				dst := p.dst[i*outPlane+out+row*p.OutW:][:wide]
				for j := range dst {
					dst[j] = p.window(src[j*p.StrideW:], kh, kw, scale)
				}
			}
		}
	}
}

// window returns the result of one window of kh×kw taps: the maximum, or the sum times scale,
// depending on the pool's operation. image[0] is at the first tap.
func (p *pool) window(image []float32, kh, kw int, scale float32) float32 {
	sum, most := float32(0), float32(math.Inf(-1))
	for ky := range kh {
		row := image[ky*p.DilH*p.InW:]
		for kx := range kw {
			v := row[kx*p.DilW]
			sum += v
			if !(most > v) {
				most = v
			}
		}
	}
	if p.op == largest {
		return most
	}
	return sum * scale
}

// GlobalAveragePool computes the mean of each channel (ONNX GlobalAveragePool). src is
// f32[n][c][hw][block], where hw is the number of pixels, c the number of blocks, and block is 16
// or 1. dst is f32[n][c][block]. If hw is 0, the means are NaN.
func GlobalAveragePool(dst, src []float32, n, c, hw, block int) {
	if n <= 0 || c <= 0 {
		return
	}
	src = src[:volume(n, c, hw, block)]
	dst = dst[:volume(n, c, block)]
	if block == 16 {
		m := planeMeans{dst: dst, src: src}
		if !meansOfPlanes.run(&m, partsFor(0, 4*int64(len(src)))) {
			m.Part(0, 1)
		}
		return
	}
	ReduceMean(dst, src, n*c, hw, 1)
}

type planeMeans struct{ dst, src []float32 }

var meansOfPlanes slot[planeMeans, *planeMeans]

func (m *planeMeans) Part(i, parts int) {
	planes := len(m.dst) / 16
	size := len(m.src) / planes
	from, to := portion(planes, i, parts)
	for ; from < to; from++ {
		*(*[16]float32)(m.dst[16*from:]) = meanOf16(m.src[from*size:][:size])
	}
}

// meanOf16 returns the mean of each of 16 channels of src. It sums at most longSum pixels in
// float32, and adds these sums in float64.
func meanOf16(src []float32) [16]float32 {
	const side, longSum = 6, 256
	var sums [side][16]float32
	var total [16]float64
	pixels := len(src) / 16
	limit, _ := tileLimits()
	t := tile{a: start(src), c: start(sums[0][:]), rows: min(side, limit), panels: 1, count: 1, scale: 1}
	t.rowA, t.rowC = 64, 64
	for t.atA = 0; len(src)*4-t.atA >= 64; {
		n := min(longSum, (len(src)*4-t.atA)/(64*t.rows))
		if n == 0 {
			t.rows = 1
			continue
		}
		t.loops(16, [3]int{n, 1, 1}, [3]int{64 * t.rows, 0, 0})
		runWindow(&t, scaledSum)
		for _, s := range sums[:t.rows] {
			for j, v := range s {
				total[j] += float64(v)
			}
		}
		t.atA += 64 * t.rows * n
	}
	var mean [16]float32
	for j, v := range total {
		mean[j] = float32(v / float64(pixels))
	}
	return mean
}
