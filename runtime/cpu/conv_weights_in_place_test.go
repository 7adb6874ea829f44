package cpu

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// weightsCase returns the operands of a gradient of the weights of a convolution with windows of 3×3.
func weightsCase(s ConvShape) (shape ConvShape, dst, x, g, scratch []float32) {
	s.KH, s.KW, s.Group, s.InBlock = 3, 3, 1, 16
	s.StrideH, s.StrideW, s.DilH, s.DilW = max(1, s.StrideH), max(1, s.StrideW), max(1, s.DilH), max(1, s.DilW)
	s.OutH, s.OutW = (s.InH+2*s.PadH-2*s.DilH-1)/s.StrideH+1, (s.InW+2*s.PadW-2*s.DilW-1)/s.StrideW+1
	x = make([]float32, volume(s.N, ceil(s.InC, 16), s.InH, s.InW, 16))
	g = make([]float32, volume(s.N, s.outBlocks(), s.OutH, s.OutW, 16))
	for i := range x {
		x[i] = float32(i*7919%2003)/1001.5 - 1
	}
	for i := range g {
		g[i] = float32(i*104729%1999)/999.5 - 1
	}
	return s, make([]float32, volume(s.OutC, s.InC, 9)), x, g, make([]float32, len(x)+len(g)+2*ConvWeightsBlockedRoom(9))
}

// TestWeightsInPlace compares the two ways to compute gradients of weights, for shapes at which either of them is
// chosen, and with different numbers of parts.
func TestWeightsInPlace(t *testing.T) {
	for _, shape := range []ConvShape{
		{N: 1, InC: 1, InH: 5, InW: 5, OutC: 1},
		{N: 3, InC: 16, InH: 9, InW: 20, OutC: 16},
		{N: 2, InC: 37, InH: 12, InW: 14, OutC: 50, PadH: 1, PadW: 1},
		{N: 5, InC: 30, InH: 11, InW: 13, OutC: 33, StrideH: 2, StrideW: 3, PadH: 1, PadW: 2},
		{N: 2, InC: 20, InH: 12, InW: 14, OutC: 16, DilH: 2, DilW: 3, PadH: 4, PadW: 2},
		{N: 40, InC: 17, InH: 12, InW: 16, OutC: 18},                         // several groups
		{N: 2, InC: 16, InH: 80, InW: 130, OutC: 16, PadH: 1, PadW: 1},       // several bands
		{N: 2, InC: 16, InH: 3, InW: 2, OutC: 20, PadH: 4, PadW: 7},          // windows in padding alone
		{N: 3, InC: 16, InH: 7, InW: 7, OutC: 16, PadH: 1, PadW: 1, DilH: 3}, // rows that no window sees
	} {
		s, dst, x, g, scratch := weightsCase(shape)
		for _, l := range Levels() {
			restore := SetLevel(l)
			w := newBlockedWeights(dst, x, g, scratch, &s)
			for _, w.moves = range []bool{true, false} {
				w.Part(0, 1)
			}
			want := append([]float32(nil), dst...)
			for _, parts := range []int{1, 3, 50} {
				p, ok := newWeightsInPlace(&w, scratch)
				if !ok {
					t.Fatalf("%+v: no room", s)
				}
				for i := range scratch {
					scratch[i] = float32(math.NaN())
				}
				for i := range parts {
					p.Part(i, parts)
				}
				p.finish(dst)
				for i, got := range dst {
					if d := math.Abs(float64(got - want[i])); !(d <= 1e-3) {
						t.Fatalf("%v: %+v: weight %d is %v, want %v", l, s, i, got, want[i])
					}
				}
				if parts > 1 {
					continue
				}
				copy(want, dst) // from now on the same bits
			}
			restore()
		}
	}
}

func BenchmarkConvWeightsBlocked(b *testing.B) {
	defer rt.Threads(rt.Threads(1))
	for name, shape := range map[string]ConvShape{
		"8 to 16 channels, 26x26, 64 images":  {N: 64, InC: 8, InH: 26, InW: 26, OutC: 16},
		"32 to 64 channels, 26x26, 64 images": {N: 64, InC: 32, InH: 26, InW: 26, OutC: 64},
		"64 to 64 channels, 16x16, 16 images": {N: 16, InC: 64, InH: 16, InW: 16, OutC: 64, PadH: 1, PadW: 1},
		"128 to 128 channels, 8x8, 16 images": {N: 16, InC: 128, InH: 8, InW: 8, OutC: 128, PadH: 1, PadW: 1},
		"512 to 512 channels, 2x2, 16 images": {N: 16, InC: 512, InH: 2, InW: 2, OutC: 512, PadH: 1, PadW: 1},
		"16 to 16 channels, 64x64, 8 images":  {N: 8, InC: 16, InH: 64, InW: 64, OutC: 16, PadH: 1, PadW: 1},
		"32 to 32 channels, 8x8, 64 images":   {N: 64, InC: 32, InH: 8, InW: 8, OutC: 32, PadH: 1, PadW: 1},
	} {
		s, dst, x, g, scratch := weightsCase(shape)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ConvWeightsBlocked(dst, x, g, scratch, &s)
			}
			b.ReportMetric(2*float64(len(dst))*float64(s.N*s.OutH*s.OutW)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
