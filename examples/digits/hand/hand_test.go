package hand

import (
	"image"
	"image/color"
	"math/rand/v2"
	"testing"
)

// ink returns the number of pixels that differ from the corner.
func ink(m image.Image) int {
	n, b := 0, m.Bounds()
	paper := color.RGBAModel.Convert(m.At(b.Min.X, b.Min.Y))
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if color.RGBAModel.Convert(m.At(x, y)) != paper {
				n++
			}
		}
	}
	return n
}

func TestDraw(t *testing.T) {
	for i, c := range "0123456789+−×÷=" {
		for form := range 3 {
			h := New(rand.New(rand.NewPCG(uint64(i), uint64(form))))
			h.Size = 32
			if m := h.Draw(c, form); m.Bounds().Dx() != 32 || ink(m) < 20 || ink(m) > 32*32*3/4 {
				t.Errorf("%c, form %d: %d pixels of ink", c, form, ink(m))
			}
		}
	}
	h := New(rand.New(rand.NewPCG(1, 0)))
	h.Size = 16
	if n := ink(h.Draw('A', 0)); n != 0 {
		t.Errorf("a letter has %d pixels of ink", n)
	}
}
