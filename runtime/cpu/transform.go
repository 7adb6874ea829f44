package cpu

import "unsafe"

// transform describes a part of a Winograd transform: the transform along one axis. It is applied to
// lines of vectors of 16 elements. Distances are in bytes.
type transform struct {
	src [6]unsafe.Pointer // the operands of the first results
	dst unsafe.Pointer    // the first of the first results

	next             int // distance between results of the same operands
	stepSrc, stepDst int // distance to the next operands and results of a line
	gapSrc, gapDst   int // distance from the end of a line to the next one
	count, lines     int // operands of a line, and lines; at least one

	// These fields say how the last factor handles its results. It stores the first rows, at least
	// one, of each column.
	rows     int
	bias     unsafe.Pointer // 16 numbers
	residual unsafe.Pointer // laid out as dst, or nil
	lo, hi   float32
}

// winogradFactor is the kind of a transform.
type winogradFactor int

const (
	spreadInputs   winogradFactor = iota // from inputs towards factors
	gatherProducts                       // from products towards sums
	finishProducts                       // gather, then bias, residual and limits
)

// maxPoints is the largest number of operands of a transform. F(tile,3) is the Winograd algorithm
// for `tile` outputs and a filter of 3 weights. Its transform has tile+2 operands, and tile is 2 or
// 4.
const maxPoints = 6

// transformRef computes one transform of F(tile,3), the Winograd algorithm for `tile` outputs and a
// filter of 3 weights. It transforms along one axis. It rounds each product, so the bits are the
// same on every processor.
func transformRef(f winogradFactor, tile int, t *transform) {
	src, dst := 0, 0
	for range t.lines {
		for range t.count {
			for lane := 0; lane < 64; lane += 4 {
				var d [maxPoints]float32
				for i := range tile + 2 {
					d[i] = *(*float32)(unsafe.Add(t.src[i], src+lane))
				}
				results := tile + 2
				if f == spreadInputs {
					d = spreadPoints(tile, d)
				} else {
					d = gatherPoints(tile, d)
					results = tile
				}
				if f == finishProducts {
					results = t.rows
				}
				for i, v := range d[:results] {
					at := dst + lane + i*t.next
					if f == finishProducts {
						v += *(*float32)(unsafe.Add(t.bias, lane))
						if t.residual != nil {
							v += *(*float32)(unsafe.Add(t.residual, at))
						}
						if v < t.lo {
							v = t.lo
						}
						if v > t.hi {
							v = t.hi
						}
					}
					*(*float32)(unsafe.Add(t.dst, at)) = v
				}
			}
			src += t.stepSrc
			dst += t.stepDst
		}
		src += t.gapSrc
		dst += t.gapDst
	}
}

// spreadPoints returns the input transform Bᵀ·d of F(tile,3), the Winograd algorithm for `tile`
// outputs and a filter of 3 weights. The interpolation points are 0, ±1 and ∞, and also ±2 if tile
// is 4.
func spreadPoints(tile int, d [maxPoints]float32) [maxPoints]float32 {
	if tile == 2 {
		return [maxPoints]float32{d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]}
	}
	even, odd := d[4]-float32(4*d[2]), d[3]-float32(4*d[1])
	even2, odd2 := d[4]-d[2], float32(2*(d[3]-d[1]))
	return [maxPoints]float32{
		d[4] - float32(5*d[2]) + float32(4*d[0]),
		even + odd, even - odd, even2 + odd2, even2 - odd2,
		d[5] - float32(5*d[3]) + float32(4*d[1]),
	}
}

// gatherPoints returns Aᵀ·m for F(tile,3).
func gatherPoints(tile int, m [maxPoints]float32) [maxPoints]float32 {
	sum, difference := m[1]+m[2], m[1]-m[2]
	if tile == 2 {
		return [maxPoints]float32{m[0] + sum, difference - m[3]}
	}
	sum2, difference2 := m[3]+m[4], m[3]-m[4]
	return [maxPoints]float32{
		m[0] + sum + sum2,
		difference + float32(2*difference2),
		sum + float32(4*sum2),
		m[5] + difference + float32(8*difference2),
	}
}
