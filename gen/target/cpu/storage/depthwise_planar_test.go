package storage

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/cpu"
)

// A window that the operator takes is one that its kernel takes.
func TestFitsPlanar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, most int) int { return rapid.IntRange(1, most).Draw(t, name) }
		kh, kw := draw("kh", 40), draw("kw", 140)
		w := op.Window{Kernel: []int{kh, kw}, Strides: []int{2, draw("stride", 9)}, Dilations: []int{draw("down", 60), draw("across", 60)}}
		if want := cpu.FitsPlanar(kh, kw, w.Dilation(0), w.Dilation(1), w.Stride(1)); FitsPlanar(w) != want {
			t.Errorf("%v: the kernel says %v", w, want)
		}
		one := op.Window{Kernel: []int{kw}, Strides: w.Strides[1:], Dilations: w.Dilations[1:]}
		if want := cpu.FitsPlanar(1, kw, 1, one.Dilation(0), one.Stride(0)); FitsPlanar(one) != want {
			t.Errorf("%v: the kernel says %v", one, want)
		}
	})
}
