package kerneltest

import (
	"math"
	"testing"
)

// DepthwiseConv tests a depthwise convolution of blocked tensors.
func DepthwiseConv(t *testing.T, conv ConvKernel) {
	depthwise(t, func(t *testing.T, c ConvCase) {
		c.Shape.InBlock = 16
		check(t, conv, c, false)
	})
}

// DepthwisePlanar tests a depthwise convolution of planar tensors.
func DepthwisePlanar(t *testing.T, conv ConvKernel) {
	planar := func(t *testing.T, c ConvCase) {
		c.Shape.InBlock = 1
		check(t, conv, c, true)
	}
	depthwise(t, planar)
	type shape = ConvShape
	for name, s := range map[string]shape{
		"rows longer than the room":     {InC: 2, InH: 3, InW: 9000, KH: 3, KW: 3, PadH: 1, PadW: 1},
		"strided rows longer than that": {InC: 2, InH: 4, InW: 7001, KH: 3, KW: 5, StrideW: 2, PadH: 1, PadW: 2},
		"more rows than the room has":   {InC: 2, InH: 300, InW: 70, KH: 3, KW: 3, StrideH: 2, PadH: 2, PadW: 1},
		"long strides":                  {InC: 3, InH: 40, InW: 50, KH: 2, KW: 3, StrideH: 5, StrideW: 3, PadH: 1, PadW: 1},
		"rows in between":               {InC: 3, InH: 40, InW: 5, KH: 3, DilH: 7, PadH: 9, PadW: 2},
		"one dimension":                 {InC: 5, InH: 1, InW: 133, KW: 31, PadW: 15},
	} {
		t.Run(name, func(t *testing.T) { depthwiseCase(t, planar, ConvCase{Shape: s, End: s.PadH, Epilogue: everyStep}) })
	}
}

func depthwise(t *testing.T, check func(t *testing.T, c ConvCase)) {
	type shape = ConvShape
	for name, c := range map[string]ConvCase{
		"3x3":             {Shape: shape{N: 2, InC: 32, InH: 9, InW: 20, KH: 3, KW: 3}},
		"3x3 with stride": {Shape: shape{InC: 48, InH: 15, InW: 17, KH: 3, KW: 3, StrideH: 2, StrideW: 2}, Epilogue: everyStep},
		"5x5":             {Shape: shape{InC: 20, InH: 11, InW: 32, KH: 5, KW: 5}, Epilogue: everyStep},
		"dilation":        {Shape: shape{InC: 16, InH: 9, InW: 13, KH: 3, KW: 2, DilH: 3, DilW: 4}},
		"one pixel":       {Shape: shape{InC: 5, InH: 1, InW: 1}, Epilogue: withBias | withClampUp},
		"unaligned":       {Shape: shape{InC: 17, InH: 4, InW: 9, KH: 3, KW: 3}, Shift: 1, Epilogue: everyStep},
		"padding":         {Shape: shape{N: 2, InC: 40, InH: 9, InW: 20, KH: 3, KW: 3, PadH: 1, PadW: 1}, End: 1, Epilogue: everyStep},
		"padding of many": {Shape: shape{InC: 80, InH: 40, InW: 30, KH: 3, KW: 3, PadH: 1, PadW: 1}, End: 1, Epilogue: everyStep},
		"padded stride":   {Shape: shape{InC: 80, InH: 14, InW: 30, KH: 5, KW: 5, StrideH: 2, StrideW: 2, PadH: 1, PadW: 2}, End: 2, Epilogue: everyStep},
		"padded dilation": {Shape: shape{InC: 40, InH: 5, InW: 4, KH: 3, KW: 2, DilH: 3, DilW: 5, PadH: 4, PadW: 6}, End: 6, Epilogue: everyStep},
		"odd numbers":     {Shape: shape{InC: 16, InH: 8, InW: 9, KH: 3, KW: 3}, Special: true, Epilogue: everyStep},
	} {
		t.Run(name, func(t *testing.T) { depthwiseCase(t, check, c) })
	}
	t.Run("every width", func(t *testing.T) {
		for w := 1; w < 33; w++ {
			depthwiseCase(t, check, ConvCase{Shape: shape{InC: 16, InH: 3, InW: w + 1, KH: 2, KW: 2}, Seed: uint32(w)})
		}
	})
}

// depthwiseCase makes a case depthwise, with as many outputs and groups as inputs, and calls check with
// it.
func depthwiseCase(t *testing.T, check func(t *testing.T, c ConvCase), c ConvCase) {
	t.Helper()
	s := &c.Shape
	s.OutC, s.Group = s.InC, s.InC
	check(t, c)
}

// PoolFunc is a maximum pool or an average pool.
type PoolFunc func(dst, src []float32, s *PoolShape)

// Pool tests a maximum and an average pool, blocked and planar.
func Pool(t *testing.T, maximum, average PoolFunc) {
	type shape = PoolShape
	for name, s := range map[string]shape{
		"2x2":                    {N: 2, C: 3, InH: 8, InW: 10, KH: 2, KW: 2, StrideH: 2, StrideW: 2},
		"3x3 with padding":       {C: 2, InH: 9, InW: 20, KH: 3, KW: 3, PadH: 1, PadW: 1, EndH: 1, EndW: 1},
		"3x3 rounded up":         {C: 1, InH: 10, InW: 12, KH: 3, KW: 3, StrideH: 2, StrideW: 2, OutH: 5, OutW: 6},
		"padding at the end":     {C: 1, InH: 5, InW: 5, KH: 3, KW: 3, StrideH: 2, StrideW: 2, EndH: 2, EndW: 2},
		"rounded up, padded":     {C: 1, InH: 6, InW: 5, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1, EndH: 1, OutH: 4, OutW: 3},
		"windows in the padding": {C: 1, InH: 2, InW: 3, KH: 2, KW: 2, PadH: 3, PadW: 2, EndH: 3, EndW: 3},
		"window over everything": {C: 1, InH: 3, InW: 2, KH: 7, KW: 7, PadH: 2, PadW: 3, EndH: 2, EndW: 2},
		"dilation":               {C: 1, InH: 9, InW: 11, KH: 3, KW: 2, DilH: 2, DilW: 3, PadH: 2, PadW: 3, EndH: 1},
		"one dimension":          {C: 2, InH: 1, InW: 40, KH: 1, KW: 5, PadW: 2, EndW: 2},
		"wide":                   {C: 1, InH: 4, InW: 3001, KH: 3, KW: 3, StrideW: 2, PadW: 1, EndW: 1},
		"wide with a stride":     {C: 1, InH: 3, InW: 2999, KH: 2, KW: 4, StrideH: 1, StrideW: 3, PadW: 2, EndW: 3},
		"many rows":              {C: 2, InH: 150, InW: 70, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1},
		"windows too large":      {C: 1, InH: 13, InW: 12, KH: 12, KW: 11, PadH: 1},
		"long strides":           {C: 1, InH: 20, InW: 20, KH: 2, KW: 3, StrideH: 5, StrideW: 4},
	} {
		for _, p := range []*int{&s.N, &s.StrideH, &s.StrideW, &s.DilH, &s.DilW} {
			*p = max(1, *p)
		}
		if s.OutH == 0 {
			s.OutH = (s.InH+s.PadH+s.EndH-(s.KH-1)*s.DilH-1)/s.StrideH + 1
			s.OutW = (s.InW+s.PadW+s.EndW-(s.KW-1)*s.DilW-1)/s.StrideW + 1
		}
		for _, s.Block = range []int{1, 16} {
			for _, shift := range []int{0, 3} {
				t.Run(name, func(t *testing.T) {
					checkPool(t, maximum, s, true, shift)
					checkPool(t, average, s, false, shift)
					s.CountPad = true
					checkPool(t, average, s, false, shift)
				})
			}
		}
	}
}

func checkPool(t *testing.T, pool PoolFunc, s PoolShape, maximum bool, shift int) {
	t.Helper()
	src := NewRandom(1).Input(s.N*s.C*s.InH*s.InW*s.Block, shift)
	dst := NewSlice[float32](s.N*s.C*s.OutH*s.OutW*s.Block, shift)
	pool(dst.Data, src.Data, &s)
	src.Check(t, "src")
	dst.Check(t, "dst")
	for at, got := range dst.Data {
		pixel := at / s.Block
		x, y, c := pixel%s.OutW, pixel/s.OutW%s.OutH, pixel/s.OutW/s.OutH
		most, count := math.Inf(-1), 0
		var sum Sum
		for ky := range s.KH {
			for kx := range s.KW {
				iy, ix := y*s.StrideH-s.PadH+ky*s.DilH, x*s.StrideW-s.PadW+kx*s.DilW
				if iy >= 0 && iy < s.InH && ix >= 0 && ix < s.InW {
					v := src.Data[((c*s.InH+iy)*s.InW+ix)*s.Block+at%s.Block]
					most = max(most, float64(v))
					sum.Add(v, 1)
					count++
				} else if s.CountPad && iy < s.InH+s.EndH && ix < s.InW+s.EndW {
					count++
				}
			}
		}
		if maximum {
			if got != float32(most) {
				t.Fatalf("%+v: maximum %d is %v, want %v", s, at, got, most)
			}
			continue
		}
		sum.Scale(1 / float64(max(count, 1)))
		if !sum.Near(got) {
			t.Fatalf("%+v: average %d is %v, want %v", s, at, got, sum.Value)
		}
	}
}

// GlobalAveragePool tests a mean over all pixels.
func GlobalAveragePool(t *testing.T, pool func(dst, src []float32, n, c, hw, block int)) {
	const n, c = 2, 3
	for _, block := range []int{1, 16} {
		for _, hw := range []int{1, 5, 6, 7, 8, 49, 64, 1000, 10007} {
			src := NewRandom(uint32(hw)).Input(n*c*hw*block, hw%3)
			dst := NewSlice[float32](n*c*block, 1)
			pool(dst.Data, src.Data, n, c, hw, block)
			src.Check(t, "src")
			dst.Check(t, "dst")
			for i, got := range dst.Data {
				var sum Sum
				for p := range hw {
					sum.Add(src.Data[(i/block*hw+p)*block+i%block], 1)
				}
				sum.Scale(1 / float64(hw))
				if !sum.Near(got) {
					t.Fatalf("block %d, %d pixels: mean %d is %v, want %v", block, hw, i, got, sum.Value)
				}
			}
		}
		dst := NewSlice[float32](n*c*block, 1)
		pool(dst.Data, nil, n, c, 0, block)
		dst.Check(t, "dst")
		for i, got := range dst.Data {
			if got == got {
				t.Fatalf("block %d, no pixels: mean %d is %v, want NaN", block, i, got)
			}
		}
	}
}
