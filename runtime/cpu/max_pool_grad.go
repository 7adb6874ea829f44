package cpu

import "github.com/burngen/burngen/runtime/rt"

// MaxPoolGrad computes the gradient of the operand x of a MaxPool from g, the gradient of the
// result, and writes it to dst. Each element of g is added at the first maximum of its window, or
// at the first NaN. The layouts of dst, x and g are given by the shape.
func MaxPoolGrad(dst, x, g []float32, s *PoolShape) {
	if s.N <= 0 || s.C <= 0 || s.InH <= 0 || s.InW <= 0 {
		return
	}
	if min(s.KH, s.KW, s.StrideH, s.StrideW, s.DilH, s.DilW) < 1 || min(s.OutH, s.OutW, s.PadH, s.PadW) < 0 {
		panic("cpu: a pool of negative or no size")
	}
	if s.Block != 1 && s.Block != 16 {
		panic("cpu: a pool of a tensor that is neither blocked nor planar")
	}
	p := poolGrad{PoolShape: *s}
	p.x = x[:volume(s.N, s.C, s.InH, s.InW, s.Block)]
	p.dst = dst[:len(p.x)]
	p.g = g[:volume(s.N, s.C, s.OutH, s.OutW, s.Block)]
	work := 16 * int64(len(p.g)) * int64(s.KH*s.KW)
	parts := poolGrads.runUntil(s.Ctx, &p, nanoseconds(work, 4*int64(2*len(p.x)+len(p.g))))
	for i := range parts {
		rt.EndIfDone(s.Ctx)
		p.Part(i, parts)
	}
}

type poolGrad struct {
	PoolShape
	dst, x, g []float32
}

var poolGrads slot[poolGrad, *poolGrad]

func (p *poolGrad) Part(i, parts int) {
	in, out := p.InH*p.InW*p.Block, p.OutH*p.OutW*p.Block
	from, to := portion(p.N*p.C, i, parts)
	for plane := from; plane < to; plane++ {
		dst, x, g := p.dst[plane*in:][:in], p.x[plane*in:][:in], p.g[plane*out:][:out]
		clear(dst)
		for oy := range p.OutH {
			y0, y1 := inside(oy*p.StrideH-p.PadH, p.DilH, p.KH, p.InH)
			for ox := range p.OutW {
				x0, x1 := inside(ox*p.StrideW-p.PadW, p.DilW, p.KW, p.InW)
				if y0 >= y1 || x0 >= x1 {
					continue
				}
				if p.Block == 1 {
					p.one(dst, x, g[oy*p.OutW+ox], y0, y1, x0, x1)
				} else {
					p.lanes(dst, x, (*[16]float32)(g[16*(oy*p.OutW+ox):]), y0, y1, x0, x1)
				}
			}
		}
	}
}

// inside returns the range [from, to) of the cells of a window that are on an axis of n elements.
// The window has `count` cells, at `first`, first+step, …; `first` may be negative. `from` is the
// first cell that is not negative. `to` is one more than the last cell, but at most n. The range is
// empty if no cell is on the axis.
func inside(first, step, count, n int) (from, to int) {
	end := first + step*(count-1) + 1
	if first < 0 {
		first += ceil(-first, step) * step
	}
	return first, min(end, n)
}

// one adds g to one element of a plane of dst: the element at which x has the first maximum of the
// window, or the first NaN. The window has rows [y0, y1) and columns [x0, x1).
func (p *poolGrad) one(dst, x []float32, g float32, y0, y1, x0, x1 int) {
	best := y0*p.InW + x0
	most := x[best]
	for y := y0; y < y1; y += p.DilH {
		for at := y*p.InW + x0; at < y*p.InW+x1; at += p.DilW {
			if v := x[at]; v > most || v != v && most == most {
				best, most = at, v
			}
		}
	}
	dst[best] += g
}

// lanes is [poolGrad.one] for a blocked plane. It adds one element of g for each of 16 channels.
func (p *poolGrad) lanes(dst, x []float32, g *[16]float32, y0, y1, x0, x1 int) {
	first := 16 * (y0*p.InW + x0)
	rows, columns := ceil(y1-y0, p.DilH), ceil(x1-x0, p.DilW)
	below, beside := 16*p.DilH*p.InW, 16*p.DilW
	end := first + (rows-1)*below + (columns-1)*beside + 16
	poolGradWindow(dst[first:end], x[first:end], g, rows, columns, below, beside)
}

// poolGradWindowRef adds g[j] to one element of dst for each channel j of a window. In this
// channel, the element is at the first maximum of x in the window, or at the first NaN. The window
// has rows·columns cells, and a cell has 16 channels. `below` is the distance from a cell to the
// cell below, and `beside` to the next cell in the row, in elements.
func poolGradWindowRef(dst, x []float32, g *[16]float32, rows, columns, below, beside int) {
	most := *(*[16]float32)(x)
	var best [16]int
	for y := range rows {
		for z := range columns {
			at := y*below + z*beside
			for lane, v := range (*[16]float32)(x[at:]) {
				if m := most[lane]; v > m || v != v && m == m {
					best[lane], most[lane] = at, v
				}
			}
		}
	}
	for lane, at := range best {
		dst[at+lane] += g[lane]
	}
}
