package kerneltest

import (
	"math"
	"testing"
)

// ConvData tests the gradient of the input of a convolution, with kernels, strides, dilations and
// channel counts of many sizes. pack packs the weights.
func ConvData(t *testing.T, data func(dst, g, weights []float32, s *ConvShape), pack func(dst, w []float32, s *ConvShape)) {
	type shape = ConvShape
	for name, c := range map[string]ConvCase{
		"1x1":                        {Shape: shape{InC: 32, InH: 5, InW: 7, OutC: 48}},
		"1x1 with stride":            {Shape: shape{N: 2, InC: 40, InH: 9, InW: 8, OutC: 20, StrideH: 2, StrideW: 3}},
		"3x3":                        {Shape: shape{N: 2, InC: 32, InH: 9, InW: 15, OutC: 64, KH: 3, KW: 3}},
		"3x3 of ragged channels":     {Shape: shape{InC: 19, InH: 6, InW: 18, OutC: 50, KH: 3, KW: 3, PadH: 1, PadW: 1}, End: 1},
		"3x3 of many pixels":         {Shape: shape{InC: 20, InH: 61, InW: 40, OutC: 36, KH: 3, KW: 3, PadH: 1, PadW: 1}, End: 1},
		"3x3 with stride":            {Shape: shape{InC: 16, InH: 17, InW: 31, OutC: 32, KH: 3, KW: 3, StrideH: 2, StrideW: 2}},
		"3x3 with stride and pad":    {Shape: shape{N: 3, InC: 36, InH: 16, InW: 18, OutC: 32, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1}, End: 1},
		"7x7 with stride and pad":    {Shape: shape{InC: 3, InH: 30, InW: 33, OutC: 64, KH: 7, KW: 7, StrideH: 2, StrideW: 2, PadH: 3, PadW: 3}, End: 3},
		"2x2 with more pad":          {Shape: shape{InC: 16, InH: 7, InW: 8, OutC: 16, KH: 2, KW: 2, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1}, End: 1},
		"dilation":                   {Shape: shape{InC: 33, InH: 12, InW: 13, OutC: 32, KH: 3, KW: 3, DilH: 2, DilW: 3, PadH: 2, PadW: 1}, End: 2},
		"stride beside dilation":     {Shape: shape{InC: 16, InH: 12, InW: 13, OutC: 16, KH: 3, KW: 3, DilH: 2, StrideW: 2}},
		"stride beyond the kernel":   {Shape: shape{InC: 16, InH: 12, InW: 13, OutC: 16, KH: 2, KW: 1, StrideH: 5, StrideW: 2}},
		"one dimension":              {Shape: shape{InC: 20, InH: 1, InW: 50, OutC: 33, KW: 3, StrideW: 2}},
		"padding wider than windows": {Shape: shape{InC: 16, InH: 3, InW: 2, OutC: 20, KH: 2, KW: 3, PadH: 4, PadW: 7}, End: 5},
		"small planes of a batch":    {Shape: shape{N: 16, InC: 48, InH: 2, InW: 2, OutC: 64, KH: 3, KW: 3, PadH: 1, PadW: 1}, End: 1},
		"phases of a batch":          {Shape: shape{N: 17, InC: 48, InH: 8, InW: 7, OutC: 24, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1}, End: 1},
		"parts of a block":           {Shape: shape{N: 3, InC: 36, InH: 16, InW: 18, OutC: 50, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1, Terms: 64}, End: 1},
		"unaligned":                  {Shape: shape{InC: 17, InH: 7, InW: 8, OutC: 18, KH: 3, KW: 3}, Shift: 5},
	} {
		t.Run(name, func(t *testing.T) { CheckConvData(t, data, pack, c) })
	}
}

// CheckConvData compares the kernel's result for one case with the definition.
func CheckConvData(t *testing.T, data func(dst, g, weights []float32, s *ConvShape), pack func(dst, w []float32, s *ConvShape), c ConvCase) {
	t.Helper()
	c.Shape.InBlock = 16
	c.complete()
	s := &c.Shape
	r := NewRandom(c.Seed)
	ins, outs, taps := (s.InC+15)/16, (s.OutC+15)/16, s.KH*s.KW
	g := NewSlice[float32](s.N*outs*s.OutH*s.OutW*16, c.Shift)
	for i := range g.Data {
		g.Data[i] = r.Float32() // elements beyond the channels do not matter
	}
	g.Freeze()
	w := r.Input(s.OutC*s.InC*taps, c.Shift)
	weights := NewSlice[float32](ins*outs*taps*256, c.Shift)
	pack(weights.Data, w.Data, s)
	w.Check(t, "w")
	weights.Check(t, "weights")
	weights.Freeze()
	dst := NewSlice[float32](s.N*ins*s.InH*s.InW*16, c.Shift)
	data(dst.Data, g.Data, weights.Data, s)
	for name, x := range map[string]*Slice[float32]{"g": g, "weights": weights, "dst": dst} {
		x.Check(t, name)
	}
	sums := make([]Sum, len(dst.Data))
	eachTap(s, g.Data, func(n, o, tap, at int, by float32) {
		for i := range s.InC {
			sums[((n*ins+i/16)*s.InH*s.InW+at)*16+i%16].Add(by, w.Data[(o*s.InC+i)*taps+tap])
		}
	})
	for i, got := range dst.Data {
		if channel := i/16/s.InW/s.InH%ins*16 + i%16; channel >= s.InC {
			if math.Float32bits(got) != 0 {
				t.Fatalf("channel %d of %d is %v, not zero", channel, s.InC, got)
			}
		} else if !sums[i].Near(got) {
			t.Fatalf("%+v: element %d is %v, want %v", c, i, got, sums[i].Value)
		}
	}
}

// eachTap calls f for each product in a convolution. A product is of a weight and an input pixel.
// For each image n, output channel o and output pixel, eachTap goes through the taps, the elements
// of the window, that read inside the image. `at` is the index of the input pixel that the tap
// reads, and `by` is the gradient of the output pixel. g is in blocks of 16 channels.
func eachTap(s *ConvShape, g []float32, f func(n, o, tap, at int, by float32)) {
	outs := (s.OutC + 15) / 16
	for n := range s.N {
		for o := range s.OutC {
			for place := range s.OutH * s.OutW {
				by := g[((n*outs+o/16)*s.OutH*s.OutW+place)*16+o%16]
				for tap := range s.KH * s.KW {
					y, x := place/s.OutW*s.StrideH+tap/s.KW*s.DilH-s.PadH, place%s.OutW*s.StrideW+tap%s.KW*s.DilW-s.PadW
					if y >= 0 && y < s.InH && x >= 0 && x < s.InW {
						f(n, o, tap, y*s.InW+x, by)
					}
				}
			}
		}
	}
}
