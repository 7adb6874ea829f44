package kerneltest

import (
	"math"
	"testing"
)

// ConvKernel is a convolution kernel, with the functions that pack its weights.
type ConvKernel struct {
	Convolve   func(dst, src, weights []float32, s *ConvShape, ep *Epilogue)
	WeightsLen func(s *ConvShape) int
	Pack       func(dst, w []float32, s *ConvShape)
}

// ConvCase is a convolution to test. The size of its output follows from input and padding. A
// batch, block, kernel extent, stride, dilation or group of 0 means 1.
type ConvCase struct {
	Shape    ConvShape
	End      int    // cells of padding after the last row and column
	Epilogue int    // bits of withBias … withThen
	Shift    int    // offset of the operands from an aligned address, in elements
	Special  bool   // the operands include special numbers
	Seed     uint32 // seed of the operands
}

// complete replaces each 0 that means 1 (see [ConvCase]) by 1, and computes the size of the output.
func (c *ConvCase) complete() {
	s := &c.Shape
	for _, p := range []*int{&s.N, &s.InBlock, &s.KH, &s.KW, &s.StrideH, &s.StrideW, &s.DilH, &s.DilW, &s.Group} {
		*p = max(1, *p)
	}
	s.OutH = (s.PadH+s.InH+c.End-(s.KH-1)*s.DilH-1)/s.StrideH + 1
	s.OutW = (s.PadW+s.InW+c.End-(s.KW-1)*s.DilW-1)/s.StrideW + 1
}

// Conv tests a convolution with kernels, strides, dilations, groups and channel counts of many sizes.
func Conv(t *testing.T, conv ConvKernel) {
	type shape = ConvShape
	for name, c := range map[string]ConvCase{
		"1x1":                         {Shape: shape{InC: 32, InH: 5, InW: 7, InBlock: 16, OutC: 32}},
		"1x1 on one pixel":            {Shape: shape{InC: 40, InH: 1, InW: 1, InBlock: 16, OutC: 10}},
		"1x1 of many pixels":          {Shape: shape{InC: 16, InH: 41, InW: 43, InBlock: 16, OutC: 48}, Epilogue: everyStep},
		"1x1 with stride":             {Shape: shape{InC: 32, InH: 9, InW: 8, InBlock: 16, OutC: 16, StrideH: 2, StrideW: 2}},
		"1x1 of a part":               {Shape: shape{N: 2, InC: 16, InH: 4, InW: 6, InBlock: 16, OutC: 16, StrideH: 4}},
		"3x3":                         {Shape: shape{N: 2, InC: 32, InH: 9, InW: 15, InBlock: 16, OutC: 64, KH: 3, KW: 3}},
		"3x3 with everything":         {Shape: shape{N: 2, InC: 19, InH: 16, InW: 18, InBlock: 16, OutC: 50, KH: 3, KW: 3}, Epilogue: everyStep},
		"3x3 of many pixels":          {Shape: shape{InC: 70, InH: 61, InW: 40, InBlock: 16, OutC: 36, KH: 3, KW: 3}, Epilogue: everyStep},
		"3x3 with stride":             {Shape: shape{InC: 16, InH: 17, InW: 31, InBlock: 16, OutC: 32, KH: 3, KW: 3, StrideH: 2, StrideW: 2}},
		"3x3 with dilation":           {Shape: shape{InC: 33, InH: 12, InW: 13, InBlock: 16, OutC: 32, KH: 3, KW: 3, DilH: 2, DilW: 3}},
		"dilation of rows":            {Shape: shape{InC: 16, InH: 12, InW: 6, InBlock: 16, OutC: 16, KH: 3, KW: 3, DilH: 4}},
		"kernel 1x5":                  {Shape: shape{InC: 24, InH: 6, InW: 20, InBlock: 16, OutC: 40, KW: 5}},
		"kernel 4x1":                  {Shape: shape{InC: 24, InH: 7, InW: 3, InBlock: 16, OutC: 20, KH: 4}},
		"one dimension":               {Shape: shape{InC: 20, InH: 1, InW: 50, InBlock: 16, OutC: 33, KW: 3, StrideW: 2}, Epilogue: everyStep},
		"planar 7x7 with stride":      {Shape: shape{N: 2, InC: 3, InH: 30, InW: 33, InBlock: 1, OutC: 64, KH: 7, KW: 7, StrideH: 2, StrideW: 2}, Epilogue: everyStep},
		"planar 3x3":                  {Shape: shape{InC: 1, InH: 28, InW: 28, InBlock: 1, OutC: 8, KH: 3, KW: 3}},
		"planar with dilation":        {Shape: shape{InC: 3, InH: 11, InW: 12, InBlock: 1, OutC: 20, KH: 3, KW: 2, DilH: 2, DilW: 4}},
		"planar groups":               {Shape: shape{InC: 6, InH: 5, InW: 6, InBlock: 1, OutC: 24, KH: 2, KW: 2, Group: 3}},
		"groups of whole blocks":      {Shape: shape{InC: 64, InH: 6, InW: 6, InBlock: 16, OutC: 128, KH: 3, KW: 3, Group: 2}, Epilogue: everyStep},
		"groups within a block":       {Shape: shape{InC: 16, InH: 5, InW: 9, InBlock: 16, OutC: 32, KH: 3, KW: 3, Group: 4}},
		"groups across blocks":        {Shape: shape{InC: 60, InH: 4, InW: 9, InBlock: 16, OutC: 90, Group: 3}, Epilogue: everyStep},
		"as many groups as inputs":    {Shape: shape{InC: 35, InH: 7, InW: 8, InBlock: 16, OutC: 70, KH: 3, KW: 3, Group: 35}},
		"padding":                     {Shape: shape{N: 2, InC: 32, InH: 9, InW: 30, InBlock: 16, OutC: 64, KH: 3, KW: 3, PadH: 1, PadW: 1}, End: 1, Epilogue: everyStep},
		"padding with stride":         {Shape: shape{InC: 20, InH: 15, InW: 20, InBlock: 16, OutC: 40, KH: 5, KW: 3, StrideH: 2, StrideW: 2, PadH: 2, PadW: 1}, End: 1, Epilogue: everyStep},
		"padding with dilation":       {Shape: shape{InC: 16, InH: 7, InW: 6, InBlock: 16, OutC: 32, KH: 3, KW: 2, DilH: 2, DilW: 5, PadH: 2, PadW: 3}, End: 3, Epilogue: everyStep},
		"taps of few windows":         {Shape: shape{InC: 20, InH: 16, InW: 21, InBlock: 16, OutC: 40, KH: 3, KW: 3, DilH: 12, DilW: 12, PadH: 12, PadW: 12}, End: 12, Epilogue: everyStep},
		"taps of no window":           {Shape: shape{N: 2, InC: 20, InH: 16, InW: 21, InBlock: 16, OutC: 40, KH: 3, KW: 3, DilH: 24, DilW: 36, PadH: 24, PadW: 36}, End: 36, Epilogue: everyStep},
		"planar taps of no window":    {Shape: shape{InC: 3, InH: 9, InW: 17, InBlock: 1, OutC: 20, KH: 3, KW: 3, DilH: 6, DilW: 20, PadH: 6, PadW: 20}, End: 20},
		"dilation of small planes":    {Shape: shape{N: 5, InC: 20, InH: 7, InW: 6, InBlock: 16, OutC: 32, KH: 3, KW: 3, DilH: 4, DilW: 9, PadH: 4, PadW: 9}, End: 9, Epilogue: everyStep},
		"padding of a 1x1":            {Shape: shape{InC: 16, InH: 4, InW: 5, InBlock: 16, OutC: 16, PadH: 2, PadW: 1}, End: 2, Epilogue: everyStep},
		"padding wider than windows":  {Shape: shape{InC: 16, InH: 3, InW: 2, InBlock: 16, OutC: 20, KH: 2, KW: 3, PadH: 4, PadW: 7}, End: 5, Epilogue: everyStep},
		"padding of one dimension":    {Shape: shape{InC: 20, InH: 1, InW: 50, InBlock: 16, OutC: 33, KW: 9, PadW: 4}, Epilogue: everyStep, End: 0},
		"padding of one pixel":        {Shape: shape{InC: 16, InH: 1, InW: 1, InBlock: 16, OutC: 16, KH: 3, KW: 3, PadH: 1, PadW: 1}, End: 1},
		"planar padding":              {Shape: shape{N: 2, InC: 3, InH: 30, InW: 33, InBlock: 1, OutC: 64, KH: 7, KW: 7, StrideH: 2, StrideW: 2, PadH: 3, PadW: 3}, End: 3, Epilogue: everyStep},
		"padding of groups":           {Shape: shape{InC: 60, InH: 14, InW: 9, InBlock: 16, OutC: 90, KH: 3, KW: 3, Group: 3, PadH: 1, PadW: 2}, End: 1, Epilogue: everyStep},
		"padding of odd numbers":      {Shape: shape{InC: 32, InH: 7, InW: 8, InBlock: 16, OutC: 32, KH: 3, KW: 3, PadH: 1, PadW: 1}, End: 1, Special: true, Epilogue: everyStep},
		"small planes of a batch":     {Shape: shape{N: 16, InC: 32, InH: 2, InW: 2, InBlock: 16, OutC: 70, KH: 3, KW: 3, PadH: 1, PadW: 1}, End: 1, Epilogue: everyStep},
		"small strided planes":        {Shape: shape{N: 5, InC: 20, InH: 8, InW: 7, InBlock: 16, OutC: 32, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1}, End: 1, Epilogue: everyStep},
		"small planar planes":         {Shape: shape{N: 4, InC: 3, InH: 4, InW: 6, InBlock: 1, OutC: 20, KH: 2, KW: 3, PadW: 1}, Epilogue: everyStep},
		"parts of a block":            {Shape: shape{N: 2, InC: 50, InH: 9, InW: 15, InBlock: 16, OutC: 50, KH: 3, KW: 3, PadH: 1, PadW: 1, Terms: 1}, End: 1, Epilogue: everyStep},
		"parts of some blocks":        {Shape: shape{InC: 112, InH: 7, InW: 31, InBlock: 16, OutC: 36, Terms: 48}, Epilogue: everyStep},
		"parts of pixels of planes":   {Shape: shape{InC: 90, InH: 5, InW: 13, InBlock: 1, OutC: 40, Terms: 32}, Epilogue: everyStep},
		"parts of some planes":        {Shape: shape{InC: 5, InH: 13, InW: 14, InBlock: 1, OutC: 40, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1, Terms: 20}, Epilogue: everyStep},
		"parts of groups":             {Shape: shape{InC: 180, InH: 4, InW: 9, InBlock: 16, OutC: 90, Group: 3, Terms: 32}, Epilogue: everyStep},
		"parts beside padding":        {Shape: shape{InC: 48, InH: 3, InW: 2, InBlock: 16, OutC: 20, KH: 2, KW: 3, PadH: 4, PadW: 7, Terms: 96}, End: 5, Epilogue: everyStep},
		"parts of a batch":            {Shape: shape{N: 16, InC: 48, InH: 2, InW: 2, InBlock: 16, OutC: 70, KH: 3, KW: 3, PadH: 1, PadW: 1, Terms: 144}, End: 1, Epilogue: everyStep},
		"unaligned":                   {Shape: shape{InC: 17, InH: 7, InW: 8, InBlock: 16, OutC: 18, KH: 3, KW: 3}, Shift: 5, Epilogue: everyStep},
		"residual of ragged channels": {Shape: shape{InC: 16, InH: 6, InW: 8, InBlock: 16, OutC: 30, KH: 3, KW: 3}, Epilogue: withResidual},
		"clamp above zero":            {Shape: shape{InC: 5, InH: 6, InW: 8, InBlock: 16, OutC: 20, KH: 3, KW: 3}, Epilogue: withBias | withClampUp},
		"odd numbers":                 {Shape: shape{InC: 32, InH: 7, InW: 8, InBlock: 16, OutC: 32, KH: 3, KW: 3}, Special: true, Epilogue: everyStep},
	} {
		t.Run(name, func(t *testing.T) { CheckConv(t, conv, c) })
	}
	t.Run("every width", func(t *testing.T) {
		for w := 1; w < 33; w++ {
			CheckConv(t, conv, ConvCase{
				Shape:    ConvShape{InC: 16, InH: 3, InW: w + 1, InBlock: 16, OutC: 32, KH: 2, KW: 2},
				Epilogue: w, Seed: uint32(w),
			})
		}
	})
}

// CheckConv compares the kernel's result for one case with the definition.
func CheckConv(t *testing.T, conv ConvKernel, c ConvCase) {
	t.Helper()
	check(t, conv, c, false)
}

// check is like [CheckConv]. If planar is true, the results of conv are planar instead of blocked.
func check(t *testing.T, conv ConvKernel, c ConvCase, planar bool) {
	t.Helper()
	c.complete()
	s := &c.Shape
	r := NewRandom(c.Seed)
	r.special = c.Special
	inBlocks, outBlocks := (s.InC+s.InBlock-1)/s.InBlock, (s.OutC+15)/16
	src := NewSlice[float32](s.N*inBlocks*s.InH*s.InW*s.InBlock, c.Shift)
	clear(src.Data)
	input := func(n, channel, y, x int) *float32 {
		block := n*inBlocks + channel/s.InBlock
		return &src.Data[((block*s.InH+y)*s.InW+x)*s.InBlock+channel%s.InBlock]
	}
	for n := range s.N {
		for channel := range s.InC {
			for y := range s.InH {
				for x := range s.InW {
					*input(n, channel, y, x) = r.Float32()
				}
			}
		}
	}
	src.Freeze()
	r.special = false
	w := r.Input(s.OutC*s.InC/s.Group*s.KH*s.KW, c.Shift)
	weights := NewSlice[float32](conv.WeightsLen(s), c.Shift)
	conv.Pack(weights.Data, w.Data, s)
	w.Check(t, "w")
	weights.Check(t, "weights")
	weights.Freeze()
	lanes := 16
	if planar {
		lanes, outBlocks = 1, s.OutC
	}
	dst := NewSlice[float32](s.N*outBlocks*s.OutH*s.OutW*lanes, c.Shift)
	channel := func(at int) int { return at/lanes/s.OutW/s.OutH%outBlocks*lanes + at%lanes }
	e := newEpilogue(r, c.Epilogue, s.OutC, len(dst.Data), c.Shift, func(at int) bool { return channel(at) >= s.OutC })
	conv.Convolve(dst.Data, src.Data, weights.Data, s, &e.ep)

	for name, x := range map[string]*Slice[float32]{"src": src, "weights": weights, "dst": dst} {
		x.Check(t, name)
	}
	e.check(t)
	in, out := s.InC/s.Group, s.OutC/s.Group
	for at, got := range dst.Data {
		pixel := at / lanes
		x, y := pixel%s.OutW, pixel/s.OutW%s.OutH
		o, n := channel(at), pixel/s.OutW/s.OutH/outBlocks
		if o >= s.OutC {
			if math.Float32bits(got) != 0 {
				t.Fatalf("channel %d of %d is %v, not zero", o, s.OutC, got)
			}
			continue
		}
		var sum Sum
		for i := range in {
			for ky := range s.KH {
				for kx := range s.KW {
					iy, ix := y*s.StrideH+ky*s.DilH-s.PadH, x*s.StrideW+kx*s.DilW-s.PadW
					if iy >= 0 && iy < s.InH && ix >= 0 && ix < s.InW {
						sum.Add(*input(n, o/out*in+i, iy, ix), w.Data[((o*in+i)*s.KH+ky)*s.KW+kx])
					}
				}
			}
		}
		want := e.apply(sum, at, o)
		if !want.Near(got) {
			t.Fatalf("%+v: image %d, channel %d, pixel %d,%d is %v, want %v", c, n, o, y, x, got, want.Value)
		}
	}
}
