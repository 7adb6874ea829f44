package cpu

import (
	"fmt"
	"testing"
)

func BenchmarkWinograd(b *testing.B) {
	for _, c := range [][3]int{{64, 64, 56}, {128, 128, 28}, {256, 256, 14}, {512, 512, 7}, {64, 64, 224}, {128, 128, 112}, {256, 256, 56}, {512, 512, 28}, {512, 512, 14}, {16, 64, 55}, {48, 192, 13}} {
		for _, tile := range []int{2, 4} {
			s := &WinogradShape{N: 1, InC: c[0], InH: c[2], InW: c[2], OutC: c[1], OutH: c[2], OutW: c[2], Top: 1, Left: 1, Group: 1, Tile: tile}
			src, w := random(ceil(c[0], 16)*16*c[2]*c[2], 1), random(WinogradWeightsLen(s), 2)
			dst := make([]float32, ceil(c[1], 16)*16*c[2]*c[2])
			scratch := make([]float32, WinogradScratch(s, 2, 1000))
			ep := &Epilogue{Bias: random(s.outBlocks()*16, 3), Clamp: true, Hi: 1e30}
			b.Run(fmt.Sprintf("%dx%d %d to %d at %d", tile, tile, c[0], c[1], c[2]), func(b *testing.B) {
				eachLevel(b, 2*float64(9*c[0]*c[1]*c[2]*c[2]), func() { Winograd(dst, src, w, scratch, s, ep) })
			})
		}
	}
}
