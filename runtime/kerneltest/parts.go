package kerneltest

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

// Parts tests that long sums in parts of some terms have the error of these: it grows with
// the root of the terms that are added one after the other. One sum of all terms has more.
func Parts(t *testing.T, mul MatMulFunc[float32], conv ConvFunc) {
	const depth, terms = 8192, 128
	// A partial sum of n random products is about the root of n of them, and each addition
	// rounds it by half a unit in the last place at most.
	bound := 0.6 * math.Sqrt(terms/2+depth/terms/2) / (1 << 24)
	for name, sums := range map[string]func(a, b []float32, terms int) []float32{
		"a product of rows": func(a, b []float32, terms int) []float32 {
			dst := make([]float32, partRows*16)
			mul(dst, a, b, &cpu.MatMulShape{M: partRows, N: 16, K: depth, LDA: depth, LDC: 16, Batch: 1, Terms: terms}, nil)
			return dst
		},
		"a product of one row": func(a, b []float32, terms int) []float32 {
			var dst []float32
			for row := range partRows {
				y := make([]float32, 16)
				mul(y, a[row*depth:], b, &cpu.MatMulShape{M: 1, N: 16, K: depth, LDA: depth, LDC: 16, Batch: 1, Terms: terms}, nil)
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
			s := &cpu.ConvShape{N: 1, InC: depth, InH: 1, InW: partRows, InBlock: 16, OutC: 16, OutH: 1, OutW: partRows, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilH: 1, DilW: 1, Group: 1, Terms: terms}
			dst := make([]float32, partRows*16)
			conv(dst, blocked, b, s, nil)
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

// partRows is the number of rows of a sum's operands: those of a large tile.
const partRows = 12

// distance is the root mean square of the differences as a share of the exact numbers'.
func distance(got []float32, exact []float64) float64 {
	var off, all float64
	for i, v := range exact {
		off += (float64(got[i]) - v) * (float64(got[i]) - v)
		all += v * v
	}
	return math.Sqrt(off / all)
}
