package kernel_test

import (
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/runtime/cpu"
)

// A formula of constants gives the result of the function in the kernels' package.
func TestFormulas(t *testing.T) {
	check := func(name string, got dim.Dim, want int) {
		t.Helper()
		if n, ok := got.Int(); !ok || n != want {
			t.Errorf("%s: %s, %d expected", name, got, want)
		}
	}
	for _, n := range []int{0, 1, 3, 16, 17, 250, 256, 257, 1024, 5000} {
		d := dim.Const(n)
		check("ConvWeightsBlockedRoom", kernel.ConvWeightsBlockedRoom(d), cpu.ConvWeightsBlockedRoom(n))
		check("ConvWeightsScratch", kernel.ConvWeightsScratch(d), cpu.ConvWeightsScratch(n))
		check("ProductColumnsScratch", kernel.ProductColumnsScratch(d), cpu.ProductColumnsScratch(n))
		for _, width := range []int{1, 16, 70} {
			w := dim.Const(width)
			check("AttentionScratch", kernel.AttentionScratch(d, w, w.Add(d)), cpu.AttentionScratch(n, width, width+n))
			for _, tile := range []int{2, 4} {
				s := &kernel.WinogradShape{InC: w, OutC: d, OutW: d, Tile: dim.Const(tile)}
				c := &cpu.WinogradShape{InC: width, OutC: n, OutW: n, Tile: tile}
				check("WinogradScratch", kernel.WinogradScratch(s, w, d), cpu.WinogradScratch(c, width, n))
			}
		}
	}
}
