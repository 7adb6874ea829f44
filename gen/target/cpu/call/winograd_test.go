package call

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/runtime/cpu"
)

// The scratch of a batch that is open does not grow with it, and is enough for any.
func TestWinogradScratchIsEnoughForAnyBatch(t *testing.T) {
	const highest = 14 // tiles of a kernel's row
	for _, tile := range []int{2, 4} {
		for _, channels := range []int{16, 512} {
			for _, side := range []int{1, 4, 7, 14, 30} {
				t.Run(fmt.Sprintf("F(%d,3) of %d channels of %d×%d", tile, channels, side, side), func(t *testing.T) {
					c, size := dim.Const(channels), dim.Const(side)
					room, ok := winogradScratch(&kernel.WinogradShape{N: dim.Sym("N"), InC: c, OutC: c, OutH: size, OutW: size, Tile: dim.Const(tile)}).Len.Int()
					if !ok {
						t.Fatal("the scratch grows with the batch")
					}
					for n := 1; n <= 20; n++ {
						across := (side + tile - 1) / tile
						s := &cpu.WinogradShape{N: n, InC: channels, InH: side, InW: side, OutC: channels, OutH: side, OutW: side, Top: 1, Left: 1, Group: 1, Tile: tile}
						if need := cpu.WinogradScratch(s, 1, min(highest, n*across*across)); room < need {
							t.Errorf("%d images: %d elements, the kernel needs %d", n, room, need)
						}
					}
				})
			}
		}
	}
}
