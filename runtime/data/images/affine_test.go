package images

import (
	"fmt"
	"image"
	"image/color"
	"testing"
)

// TestQuarterTurns compares rotations with EXIF's turns, which copy pixels.
func TestQuarterTurns(t *testing.T) {
	m := picture(9, 9)
	for _, f := range []Filter{Bilinear, Nearest} {
		for degrees, orientation := range map[float64]int{0: 1, 90: 6, 180: 3, 270: 8, -90: 8, 360: 1} {
			got := apply(t, Rotate{Degrees: [2]float64{degrees, degrees}, Filter: f}, m)
			wantPicture(t, fmt.Sprint(f, degrees), got, stored(m, orientation), 0)
		}
	}
}

func TestRotate(t *testing.T) {
	red := color.RGBA{200, 0, 0, 255}
	m, mask := numberedPixels(20, 20)
	s := Sample{Image: m, Mask: mask}
	if err := (Rotate{Degrees: [2]float64{45, 45}, Fill: red, FillClass: 255}).Apply(&s, generator(1)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []image.Point{{0, 0}, {19, 0}, {0, 19}, {19, 19}, {2, 2}} {
		if s.Image.RGBAAt(p.X, p.Y) != red || s.Mask.GrayAt(p.X, p.Y).Y != 255 {
			t.Errorf("corner %v is %v, class %v", p, s.Image.RGBAAt(p.X, p.Y), s.Mask.GrayAt(p.X, p.Y))
		}
	}
	// Back and forth, the middle of a smooth picture stays.
	smooth := image.NewRGBA(image.Rect(0, 0, 60, 60))
	for y := range 60 {
		for x := range 60 {
			smooth.SetRGBA(x, y, color.RGBA{uint8(4 * x), uint8(4 * y), uint8(2 * (x + y)), 255})
		}
	}
	turned := apply(t, Sequence{Rotate{Degrees: [2]float64{20, 20}}, Rotate{Degrees: [2]float64{-20, -20}}, CenterCrop{Width: 36, Height: 36}}, smooth)
	wantPicture(t, "back and forth", turned, apply(t, CenterCrop{Width: 36, Height: 36}, smooth), 2)
}

// TestAffine compares each part of the transform with what it does to pixels. The picture has an odd
// width and height, so that a shear by 45 degrees moves pixels to pixels.
func TestAffine(t *testing.T) {
	m := picture(21, 11)
	at := func(x, y int) color.RGBA {
		if !(image.Pt(x, y)).In(m.Rect) {
			return color.RGBA{}
		}
		return m.RGBAAt(x, y)
	}
	for name, tt := range map[string]struct {
		affine Affine
		want   func(x, y int) color.RGBA
	}{
		"nothing":        {Affine{}, at},
		"twice as large": {Affine{Scale: [2]float64{2, 2}, Filter: Nearest}, func(x, y int) color.RGBA { return at((x+11)/2, 3+y/2) }},
		"half a turn":    {Affine{Degrees: [2]float64{180, 180}}, func(x, y int) color.RGBA { return at(20-x, 10-y) }},
		"shear x":        {Affine{ShearX: [2]float64{45, 45}}, func(x, y int) color.RGBA { return at(x+y-5, y) }}, // the lower half to the left
		"shear -x":       {Affine{ShearX: [2]float64{-45, -45}}, func(x, y int) color.RGBA { return at(x-y+5, y) }},
		"shear y":        {Affine{ShearY: [2]float64{45, 45}}, func(x, y int) color.RGBA { return at(x, y+x-10) }}, // the right half up
		"both": {Affine{ShearX: [2]float64{45, 45}, ShearY: [2]float64{45, 45}}, func(x, y int) color.RGBA {
			v := y + x - 10 // the shear of y is undone first
			return at(x+v-5, v)
		}},
	} {
		want := image.NewRGBA(m.Rect)
		for y := range 11 {
			for x := range 21 {
				want.SetRGBA(x, y, tt.want(x, y))
			}
		}
		wantPicture(t, name, apply(t, tt.affine, m), want, 0)
	}
	// Translations are whole pixels, up to the share, in both directions.
	r, seen := generator(1), map[image.Point]bool{}
	for range 500 {
		s := Sample{Image: m}
		if err := (Affine{Translate: [2]float64{0.1, 0.2}}).Apply(&s, r); err != nil {
			t.Fatal(err)
		}
		found := false
		for dx := -2; dx <= 2; dx++ {
			for dy := -2; dy <= 2; dy++ {
				if s.Image.RGBAAt(10, 5) == at(10-dx, 5-dy) && s.Image.RGBAAt(4, 4) == at(4-dx, 4-dy) {
					seen[image.Pt(dx, dy)], found = true, true
				}
			}
		}
		if !found {
			t.Fatal("a translation is not by whole pixels")
		}
	}
	if len(seen) != 25 {
		t.Errorf("%d translations of 25: %v", len(seen), seen)
	}
}
