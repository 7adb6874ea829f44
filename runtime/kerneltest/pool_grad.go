package kerneltest

import (
	"fmt"
	"math"
	"testing"
)

// MaxPoolGrad tests the gradient of max pooling, with planar operands and with blocked ones. Some
// elements of x are NaN, infinite or zero. In every second trial x has few different values, so
// that many windows have several maxima. The gradient must then go to the first maximum.
func MaxPoolGrad(t *testing.T, grad func(dst, x, g []float32, s *PoolShape)) {
	for i, s := range []PoolShape{
		{N: 2, C: 2, InH: 9, InW: 8, KH: 3, KW: 3, StrideH: 2, StrideW: 2, DilH: 1, DilW: 1, PadH: 1, PadW: 1},
		{N: 1, C: 3, InH: 6, InW: 6, KH: 2, KW: 2, StrideH: 2, StrideW: 2, DilH: 1, DilW: 1},
		{N: 1, C: 1, InH: 7, InW: 9, KH: 2, KW: 3, StrideH: 1, StrideW: 1, DilH: 2, DilW: 3, PadH: 1, PadW: 2},
		{N: 1, C: 1, InH: 1, InW: 5, KH: 1, KW: 4, StrideH: 1, StrideW: 2, DilH: 1, DilW: 1, PadW: 3},
	} {
		s.OutH = (s.InH+2*s.PadH-(s.KH-1)*s.DilH-1)/s.StrideH + 1
		s.OutW = (s.InW+2*s.PadW-(s.KW-1)*s.DilW-1)/s.StrideW + 1
		for _, s.Block = range []int{1, 16} {
			t.Run(fmt.Sprint(i, " in blocks of ", s.Block), func(t *testing.T) {
				r := NewRandom(uint32(i))
				r.special = true
				x := r.Input(s.N*s.C*s.InH*s.InW*s.Block, 3)
				r.special = false
				if i%2 == 0 {
					for j, v := range x.Data {
						x.Data[j] = float32(math.Round(4*float64(v))) / 4
					}
					x.Freeze()
				}
				g := r.Input(s.N*s.C*s.OutH*s.OutW*s.Block, 1)
				dst := NewSlice[float32](len(x.Data), 2)
				want := make([]float32, len(x.Data))
				for at, v := range g.Data {
					pixel, lane := at/s.Block, at%s.Block
					plane := pixel / s.OutW / s.OutH * s.InH * s.InW
					best := -1
					for tap := range s.KH * s.KW {
						y := pixel/s.OutW%s.OutH*s.StrideH + tap/s.KW*s.DilH - s.PadH
						z := pixel%s.OutW*s.StrideW + tap%s.KW*s.DilW - s.PadW
						if y < 0 || y >= s.InH || z < 0 || z >= s.InW {
							continue
						}
						cell := (plane+y*s.InW+z)*s.Block + lane
						if best < 0 || x.Data[best] == x.Data[best] && !(x.Data[cell] <= x.Data[best]) {
							best = cell
						}
					}
					if best >= 0 {
						want[best] += v
					}
				}
				grad(dst.Data, x.Data, g.Data, &s)
				for name, x := range map[string]*Slice[float32]{"x": x, "g": g, "dst": dst} {
					x.Check(t, name)
				}
				SameBits(t, "gradient", dst.Data, want)
			})
		}
	}
}
