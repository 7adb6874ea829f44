package kerneltest

import (
	"testing"
)

// ConvWeights tests the gradient of the weights of a convolution of blocked operands. It varies
// kernels, strides, dilations and channel counts. A kernel computes several parts of the result
// at the same time; room(taps) is the number of scratch elements for each part, for a window of
// `taps` elements.
func ConvWeights(t *testing.T, weights func(dst, x, g, scratch []float32, s *ConvShape), room func(taps int) int) {
	type shape = ConvShape
	for name, c := range map[string]ConvCase{
		"1x1":                        {Shape: shape{N: 2, InC: 32, InH: 5, InW: 7, OutC: 48}},
		"1x1 with stride":            {Shape: shape{N: 2, InC: 40, InH: 9, InW: 8, OutC: 20, StrideH: 2, StrideW: 3}},
		"one image":                  {Shape: shape{InC: 32, InH: 9, InW: 15, OutC: 64, KH: 3, KW: 3}},
		"ragged channels":            {Shape: shape{N: 3, InC: 19, InH: 6, InW: 18, OutC: 50, KH: 3, KW: 3, PadH: 1, PadW: 1}, End: 1},
		"many terms":                 {Shape: shape{N: 9, InC: 16, InH: 61, InW: 40, OutC: 17, KH: 3, KW: 3, PadH: 1, PadW: 1}, End: 1},
		"3x3 with stride and pad":    {Shape: shape{N: 3, InC: 36, InH: 16, InW: 18, OutC: 32, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1}, End: 1},
		"7x7 with stride and pad":    {Shape: shape{InC: 3, InH: 30, InW: 33, OutC: 64, KH: 7, KW: 7, StrideH: 2, StrideW: 2, PadH: 3, PadW: 3}, End: 3},
		"dilation":                   {Shape: shape{N: 2, InC: 33, InH: 12, InW: 13, OutC: 32, KH: 3, KW: 3, DilH: 2, DilW: 3, PadH: 2, PadW: 1}, End: 2},
		"stride beside dilation":     {Shape: shape{InC: 16, InH: 12, InW: 13, OutC: 16, KH: 3, KW: 3, DilH: 2, DilW: 2, StrideW: 2}},
		"one dimension":              {Shape: shape{N: 4, InC: 20, InH: 1, InW: 50, OutC: 33, KW: 3, StrideW: 2}},
		"padding wider than windows": {Shape: shape{N: 2, InC: 16, InH: 3, InW: 2, OutC: 20, KH: 2, KW: 3, PadH: 4, PadW: 7}, End: 5},
		"taps in padding alone":      {Shape: shape{N: 2, InC: 16, InH: 1, InW: 1, OutC: 20, KH: 3, KW: 3, PadH: 1, PadW: 1}, End: 1},
		"small planes of a batch":    {Shape: shape{N: 16, InC: 48, InH: 2, InW: 2, OutC: 64, KH: 3, KW: 3, PadH: 1, PadW: 1}, End: 1},
		"unaligned":                  {Shape: shape{N: 3, InC: 17, InH: 7, InW: 8, OutC: 18, KH: 3, KW: 3}, Shift: 5},
	} {
		t.Run(name, func(t *testing.T) { CheckConvWeights(t, weights, room, c) })
	}
}

// CheckConvWeights compares the kernel's result for one case with the definition.
func CheckConvWeights(t *testing.T, weights func(dst, x, g, scratch []float32, s *ConvShape), room func(taps int) int, c ConvCase) {
	t.Helper()
	c.Shape.InBlock = 16
	c.complete()
	s := &c.Shape
	r := NewRandom(c.Seed)
	ins, outs, taps := (s.InC+15)/16, (s.OutC+15)/16, s.KH*s.KW
	x, g := r.Input(s.N*ins*s.InH*s.InW*16, c.Shift), r.Input(s.N*outs*s.OutH*s.OutW*16, c.Shift)
	dst := NewSlice[float32](s.OutC*s.InC*taps, c.Shift)
	scratch := NewSlice[float32](len(x.Data)+len(g.Data)+2*room(taps), c.Shift)
	weights(dst.Data, x.Data, g.Data, scratch.Data, s)
	for name, x := range map[string]*Slice[float32]{"x": x, "g": g, "dst": dst, "scratch": scratch} {
		x.Check(t, name)
	}
	sums := make([]Sum, len(dst.Data))
	eachTap(s, g.Data, func(n, o, tap, at int, by float32) {
		for i := range s.InC {
			sums[(o*s.InC+i)*taps+tap].Add(by, x.Data[((n*ins+i/16)*s.InH*s.InW+at)*16+i%16])
		}
	})
	for i, got := range dst.Data {
		if !sums[i].Near(got) {
			t.Fatalf("%+v: element %d is %v, want %v", c, i, got, sums[i].Value)
		}
	}
}
