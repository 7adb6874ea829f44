package cpu

import (
	"math"
	"unsafe"
)

// windowRef computes, for each tile, row r and channel j of 16,
//
//	c[r][j] = clamp(Σ a[r][tap][j]·b[tap][j] + bias[j] + residual[r][j])
//
// The sum goes over the taps of a window. Depending on op, it is replaced by the scaled sum or the
// maximum of a[r][tap][j]. Every product is rounded, so the bits are the same on every processor.
func windowRef(t *tile, op windowOp) {
	var sums [maxRows][16]float32
	for at := t.first(); ; {
		for r := range t.rows {
			sums[r] = t.window(op, at.a+r*t.rowA, at.b)
		}
		t.finish(sums[:t.rows], at.c, at.bias)
		if !at.next(t) {
			return
		}
	}
}

// window computes one pixel of the result, for 16 channels. a is the position of the pixel's
// window, and b the position of the weights, in bytes.
func (t *tile) window(op windowOp, a, b int) [16]float32 {
	var acc [16]float32
	if op == largest {
		for j := range acc {
			acc[j] = float32(math.Inf(-1))
		}
	}
	place := run{b: b}
	for more := true; more; more = t.advance(&place, 64) {
		x := (*[16]float32)(unsafe.Add(t.a, a+place.at))
		switch op {
		case weightedSum:
			w := (*[16]float32)(unsafe.Add(t.b, place.b))
			for j := range acc {
				acc[j] += float32(x[j] * w[j])
			}
		case scaledSum:
			for j := range acc {
				acc[j] += x[j]
			}
		case largest:
			for j := range acc {
				if !(acc[j] > x[j]) {
					acc[j] = x[j]
				}
			}
		}
	}
	if op == scaledSum {
		for j := range acc {
			acc[j] *= t.scale
		}
	}
	return acc
}
