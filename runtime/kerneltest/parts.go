package kerneltest

import (
	"math"
	"testing"
)

// Parts tests that a product and a convolution divide a long sum into parts, sum each part on its
// own, and then add these sums. The division makes the error smaller: the error grows with the
// square root of the number of terms that are added one after the other.
func Parts(t *testing.T, mul MatMulKernel[float32], conv ConvKernel) {
	const depth, terms = 8192, 128
	// A partial sum of n random products is about √n times as large as one product, and each
	// addition rounds it by half a unit in the last place at most.
	bound := 0.6 * math.Sqrt(terms/2+depth/terms/2) / (1 << 24)
	for name, sums := range map[string]func(a, b []float32, terms int) []float32{
		"a product of rows": func(a, b []float32, terms int) []float32 {
			dst := make([]float32, partRows*16)
			mul.Multiply(dst, a, b, &MatMulShape{M: partRows, N: 16, K: depth, LDA: depth, LDC: 16, Batch: 1, Terms: terms}, nil)
			return dst
		},
		"a product of one row": func(a, b []float32, terms int) []float32 {
			var dst []float32
			for row := range partRows {
				y := make([]float32, 16)
				mul.Multiply(y, a[row*depth:], b, &MatMulShape{M: 1, N: 16, K: depth, LDA: depth, LDC: 16, Batch: 1, Terms: terms}, nil)
				dst = append(dst, y...)
			}
			return dst
		},
		"a convolution": func(a, b []float32, terms int) []float32 {
			blocked := make([]float32, len(a)) // [depth/16][partRows][16]
			for i, v := range a {
				row, k := i/depth, i%depth
				blocked[(k/16*partRows+row)*16+k%16] = v
			}
			s := &ConvShape{N: 1, InC: depth, InH: 1, InW: partRows, InBlock: 16, OutC: 16, OutH: 1, OutW: partRows, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilH: 1, DilW: 1, Group: 1, Terms: terms}
			dst := make([]float32, partRows*16)
			conv.Convolve(dst, blocked, b, s, nil)
			return dst
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRandom(1)
			a, b := r.Input(partRows*depth, 0).Data, r.Input(depth*16, 0).Data
			exact := make([]float64, partRows*16)
			for i := range exact {
				for k := range depth {
					exact[i] += float64(a[i/16*depth+k]) * float64(b[k*16+i%16])
				}
			}
			if off := distance(sums(a, b, terms), exact); off > bound {
				t.Errorf("in parts the error is %.2g, more than %.2g", off, bound)
			}
			if off := distance(sums(a, b, depth), exact); off <= bound {
				t.Errorf("in one sum the error is %.2g, no more than %.2g", off, bound)
			}
		})
	}
}

const partRows = 12

// distance returns the relative error of got: the root mean square of its differences from the
// exact numbers, divided by the root mean square of the exact numbers.
func distance(got []float32, exact []float64) float64 {
	var off, all float64
	for i, v := range exact {
		off += (float64(got[i]) - v) * (float64(got[i]) - v)
		all += v * v
	}
	return math.Sqrt(off / all)
}
