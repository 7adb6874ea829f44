package images

import (
	"bytes"
	"image"
	"image/color"
	"testing"
)

func TestCenterCrop(t *testing.T) {
	for _, tt := range []struct{ n, part, want int }{
		{10, 4, 3}, {10, 5, 2}, {11, 4, 4}, {9, 4, 2}, {7, 2, 2}, {5, 5, 0}, {4, 6, -1}, {4, 7, -1}, {4, 9, -2},
	} {
		// torchvision: round half to even if it crops, and the smaller half on the left if it pads.
		if got := middle(tt.n, tt.part); got != tt.want {
			t.Errorf("%d of %d pixels begin at %d, want %d", tt.part, tt.n, got, tt.want)
		}
	}
	m, mask := numberedPixels(4, 2)
	s := Sample{Image: m, Mask: mask}
	if err := (CenterCrop{Width: 2, Height: 3, FillClass: 200}).Apply(&s, generator(1)); err != nil {
		t.Fatal(err)
	}
	if want := []uint8{1, 2, 5, 6, 200, 200}; !bytes.Equal(s.Mask.Pix, want) || s.Image.RGBAAt(0, 1).R != 5 || s.Image.RGBAAt(0, 2) != (color.RGBA{}) {
		t.Errorf("classes %v, want %v; picture %v", s.Mask.Pix, want, s.Image.Pix)
	}
}

// TestRandomCropPlaces asserts that all places are drawn, equally often.
func TestRandomCropPlaces(t *testing.T) {
	m, _ := numberedPixels(5, 4)
	r, counts := generator(1), map[image.Point]int{}
	for range 12000 {
		s := Sample{Image: m}
		if err := (RandomCrop{Width: 2, Height: 2}).Apply(&s, r); err != nil {
			t.Fatal(err)
		}
		first := int(s.Image.Pix[0])
		counts[image.Pt(first%5, first/5)]++
	}
	for at, n := range counts {
		if at.X > 3 || at.Y > 2 || n < 900 || n > 1100 { // 1000 ± 3.3 standard deviations
			t.Errorf("place %v is drawn %d times of 12000", at, n)
		}
	}
	if len(counts) != 12 {
		t.Errorf("%d places", len(counts))
	}
}
