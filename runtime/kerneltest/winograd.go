package kerneltest

import (
	"math"
	"testing"
)

// WinogradKernel holds the functions of a convolution by the Winograd algorithm: the convolution,
// the packing of its weights, and the sizes of weights and scratch in elements.
type WinogradKernel struct {
	Convolve   func(dst, src, weights, scratch []float32, s *WinogradShape, ep *Epilogue)
	WeightsLen func(s *WinogradShape) int
	Pack       func(dst, w []float32, s *WinogradShape)
	Scratch    func(s *WinogradShape, workers, tiles int) int
}

// WinogradCase is a convolution to test, with both tile sizes. A batch or group of 0 means 1.
type WinogradCase struct {
	Shape    WinogradShape
	Epilogue int // bits of withBias … withThen
	Shift    int
	Odd      float32 // unless 0, an element in the middle of the input
	Tiles    int     // number of tiles that fit scratch; 0 means all
	Seed     uint32
}

// Winograd tests a convolution by the Winograd algorithm on channel counts, groups, borders and
// images that are not whole tiles.
func Winograd(t *testing.T, conv WinogradKernel) {
	type shape = WinogradShape
	for name, c := range map[string]WinogradCase{
		"whole tiles":            {Shape: shape{InC: 32, InH: 8, InW: 12, OutC: 48, OutH: 8, OutW: 12, Top: 1, Left: 1}},
		"one pixel":              {Shape: shape{InC: 16, InH: 1, InW: 1, OutC: 16, OutH: 1, OutW: 1, Top: 1, Left: 1}},
		"no padding":             {Shape: shape{InC: 16, InH: 9, InW: 11, OutC: 32, OutH: 7, OutW: 9}},
		"padding of one side":    {Shape: shape{InC: 16, InH: 9, InW: 11, OutC: 32, OutH: 9, OutW: 11}, Epilogue: everyStep},
		"padding wider than all": {Shape: shape{InC: 16, InH: 1, InW: 2, OutC: 16, OutH: 9, OutW: 11, Top: 5, Left: 7}, Epilogue: withBias},
		"nothing but padding":    {Shape: shape{InC: 16, OutC: 16, OutH: 3, OutW: 5, Top: 1, Left: 1}, Epilogue: everyStep},
		"ragged channels":        {Shape: shape{N: 2, InC: 19, InH: 7, InW: 7, OutC: 50, OutH: 7, OutW: 7, Top: 1, Left: 1}, Epilogue: everyStep},
		"long rows":              {Shape: shape{InC: 16, InH: 3, InW: 201, OutC: 16, OutH: 3, OutW: 201, Top: 1, Left: 1}, Epilogue: everyStep},
		"many images":            {Shape: shape{N: 5, InC: 16, InH: 6, InW: 5, OutC: 32, OutH: 6, OutW: 5, Top: 1, Left: 1}, Epilogue: withResidual | withThen},
		"groups":                 {Shape: shape{InC: 96, InH: 6, InW: 9, OutC: 144, OutH: 6, OutW: 9, Top: 1, Left: 1, Group: 3}, Epilogue: everyStep},
		"little scratch":         {Shape: shape{InC: 32, InH: 14, InW: 14, OutC: 64, OutH: 14, OutW: 14, Top: 1, Left: 1}, Tiles: 14, Epilogue: everyStep},
		"many channels":          {Shape: shape{InC: 320, InH: 6, InW: 7, OutC: 32, OutH: 6, OutW: 7, Top: 1, Left: 1}, Epilogue: withClamp},
		"many pixels":            {Shape: shape{InC: 24, InH: 61, InW: 40, OutC: 24, OutH: 61, OutW: 40, Top: 1, Left: 1}, Epilogue: everyStep},
		"unaligned":              {Shape: shape{InC: 17, InH: 7, InW: 8, OutC: 18, OutH: 7, OutW: 8, Top: 1, Left: 1}, Shift: 5, Epilogue: everyStep},
		"clamp above zero":       {Shape: shape{InC: 5, InH: 6, InW: 8, OutC: 20, OutH: 6, OutW: 8, Top: 1, Left: 1}, Epilogue: withBias | withClampUp},
		"NaN":                    {Shape: shape{InC: 16, InH: 20, InW: 21, OutC: 16, OutH: 20, OutW: 21, Top: 1, Left: 1}, Odd: float32(math.NaN()), Epilogue: everyStep},
		"infinity":               {Shape: shape{InC: 16, InH: 20, InW: 21, OutC: 16, OutH: 20, OutW: 21, Top: 1, Left: 1}, Odd: float32(math.Inf(1))},
		"denormal":               {Shape: shape{InC: 16, InH: 4, InW: 5, OutC: 16, OutH: 4, OutW: 5, Top: 1, Left: 1}, Odd: math.SmallestNonzeroFloat32, Epilogue: withBias},
	} {
		t.Run(name, func(t *testing.T) { CheckWinograd(t, conv, c) })
	}
	t.Run("every size", func(t *testing.T) {
		for i := 1; i < 40; i++ {
			h, w := 1+i%7, i
			CheckWinograd(t, conv, WinogradCase{
				Shape:    WinogradShape{InC: 16, InH: h, InW: w, OutC: 32, OutH: h, OutW: w, Top: 1, Left: 1},
				Epilogue: i, Seed: uint32(i),
			})
		}
	})
}

// CheckWinograd compares the results of a kernel with the definition, for one case and with both tile sizes.
func CheckWinograd(t *testing.T, conv WinogradKernel, c WinogradCase) {
	t.Helper()
	for _, tile := range []int{2, 4} {
		c.Shape.Tile = tile
		checkWinograd(t, conv, c)
	}
}

func checkWinograd(t *testing.T, conv WinogradKernel, c WinogradCase) {
	t.Helper()
	s := &c.Shape
	s.N, s.Group = max(1, s.N), max(1, s.Group)
	r := NewRandom(c.Seed)
	inBlocks, outBlocks := (s.InC+15)/16, (s.OutC+15)/16
	src := NewSlice[float32](s.N*inBlocks*s.InH*s.InW*16, c.Shift)
	clear(src.Data)
	input := func(n, channel, y, x int) *float32 {
		return &src.Data[(((n*inBlocks+channel/16)*s.InH+y)*s.InW+x)*16+channel%16]
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
	if c.Odd != 0 {
		*input(0, 1, s.InH/2, s.InW/2) = c.Odd
	}
	src.Freeze()
	w := r.Input(s.OutC*s.InC/s.Group*9, c.Shift)
	weights := NewSlice[float32](conv.WeightsLen(s), c.Shift)
	conv.Pack(weights.Data, w.Data, s)
	w.Check(t, "w")
	weights.Check(t, "weights")
	weights.Freeze()
	tiles := c.Tiles
	if tiles == 0 {
		tiles = s.N * ((s.OutH + s.Tile - 1) / s.Tile) * ((s.OutW + s.Tile - 1) / s.Tile)
	}
	scratch := NewSlice[float32](conv.Scratch(s, 1, tiles), c.Shift)
	dst := NewSlice[float32](s.N*outBlocks*s.OutH*s.OutW*16, c.Shift)
	channel := func(at int) int { return at/16/s.OutW/s.OutH%outBlocks*16 + at%16 }
	e := newEpilogue(r, c.Epilogue, s.OutC, len(dst.Data), c.Shift, func(at int) bool { return channel(at) >= s.OutC })
	conv.Convolve(dst.Data, src.Data, weights.Data, scratch.Data, s, &e.ep)

	for name, x := range map[string]*Slice[float32]{"src": src, "weights": weights, "scratch": scratch, "dst": dst} {
		x.Check(t, name)
	}
	e.check(t)

	in, out := s.InC/s.Group, s.OutC/s.Group
	sums := make([]Sum, len(dst.Data))
	largest := 0.0 // the largest output; its error depends on all inputs of its tile
	for at := range dst.Data {
		pixel := at / 16
		x, y := pixel%s.OutW, pixel/s.OutW%s.OutH
		o, n := channel(at), pixel/s.OutW/s.OutH/outBlocks
		if o >= s.OutC {
			continue
		}
		for i := range in {
			for ky := range 3 {
				for kx := range 3 {
					iy, ix := y-s.Top+ky, x-s.Left+kx
					if iy >= 0 && iy < s.InH && ix >= 0 && ix < s.InW {
						sums[at].Add(*input(n, o/out*in+i, iy, ix), w.Data[((o*in+i)*3+ky)*3+kx])
					}
				}
			}
		}
		sums[at] = e.apply(sums[at], at, o)
		if !touches(s, c.Odd, y, x) {
			largest = max(largest, sums[at].absolute)
		}
	}
	room := largest * (4 + math.Sqrt(float64(9*in+4))) * float64(s.Tile) / (1 << 24)
	errors, squares := 0.0, 0.0
	for at, got := range dst.Data {
		pixel := at / 16
		x, y := pixel%s.OutW, pixel/s.OutW%s.OutH
		want := sums[at].Value
		switch {
		case channel(at) >= s.OutC:
			if math.Float32bits(got) != 0 {
				t.Fatalf("%+v: channel %d of %d is %v, not zero", c, channel(at), s.OutC, got)
			}
		case touches(s, c.Odd, y, x):
			if math.IsNaN(want) && got == got && c.Epilogue&withClamp == 0 {
				t.Fatalf("%+v: element %d is %v, want NaN", c, at, got)
			}
		default:
			off := math.Abs(float64(got) - want)
			errors, squares = errors+off*off, squares+want*want
			if !(off <= room) {
				t.Fatalf("%+v: element %d, pixel %d,%d, is %v, want %v", c, at, y, x, got, want)
			}
		}
	}
	if limit := 1e-5; math.Sqrt(errors) > limit*math.Sqrt(squares) {
		t.Fatalf("%+v: the relative error is %.2g, want at most %.2g", c, math.Sqrt(errors/squares), limit)
	}
}

// touches reports whether the tile of output at y, x reads the element in the middle of the input, and this element,
// `odd`, is not finite.
func touches(s *WinogradShape, odd float32, y, x int) bool {
	if odd-odd == 0 {
		return false
	}
	near := func(out, middle, pad int) bool {
		first := out/s.Tile*s.Tile - pad
		return middle >= first && middle < first+s.Tile+2
	}
	return near(y, s.InH/2, s.Top) && near(x, s.InW/2, s.Left)
}
