package images

import (
	"math"
	"testing"
)

// boxesAfter applies a transform to a picture of 20 × 10 pixels with boxes.
func boxesAfter(t *testing.T, transform Transform, boxes ...Box) []Box {
	t.Helper()
	s := Sample{Image: picture(20, 10), Boxes: boxes}
	if err := transform.Apply(&s, generator(1)); err != nil {
		t.Fatal(err)
	}
	return s.Boxes
}

func TestBoxes(t *testing.T) {
	box := Box{X0: 2, Y0: 1, X1: 8, Y1: 6.5, Class: 3, Crowd: true}
	for name, tt := range map[string]struct {
		transform Transform
		want      []Box
	}{
		"resize":             {Resize{Width: 10, Height: 40}, []Box{{1, 4, 4, 26, 3, true}}},
		"center crop":        {CenterCrop{Width: 14, Height: 4}, []Box{{0, 0, 5, 3.5, 3, true}}},
		"outside":            {CenterCrop{Width: 4, Height: 10}, []Box{}},
		"at the edge":        {CenterCrop{Width: 12, Height: 10}, []Box{{0, 1, 4, 6.5, 3, true}}},
		"crop that pads":     {CenterCrop{Width: 30, Height: 10}, []Box{{7, 1, 13, 6.5, 3, true}}},
		"horizontal":         {Flip{Horizontal: 1}, []Box{{12, 1, 18, 6.5, 3, true}}},
		"vertical":           {Flip{Vertical: 1}, []Box{{2, 3.5, 8, 9, 3, true}}},
		"both":               {Flip{Horizontal: 1, Vertical: 1}, []Box{{12, 3.5, 18, 9, 3, true}}},
		"pad":                {Pad{Left: 3, Top: 4, Bottom: 1}, []Box{{5, 5, 11, 10.5, 3, true}}},
		"half a turn":        {Rotate{Degrees: [2]float64{180, 180}}, []Box{{12, 3.5, 18, 9, 3, true}}},
		"a quarter":          {Rotate{Degrees: [2]float64{90, 90}}, []Box{{6, 7, 11.5, 10, 3, true}}},
		"twice as large":     {Affine{Scale: [2]float64{2, 2}}, []Box{{0, 0, 6, 8, 3, true}}},
		"colours do nothing": {ColorJitter{Brightness: 0.5}, []Box{box}},
		"erase does nothing": {Erase{}, []Box{box}},
	} {
		got := boxesAfter(t, tt.transform, box)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
			continue
		}
		for i, w := range tt.want {
			g := got[i]
			if far(g.X0, w.X0) || far(g.Y0, w.Y0) || far(g.X1, w.X1) || far(g.Y1, w.Y1) || g.Class != w.Class || g.Crowd != w.Crowd {
				t.Errorf("%s: %v, want %v", name, g, w)
			}
		}
	}
	if a := box.Area(); a != 33 {
		t.Errorf("area %v", a)
	}
}

func far(a, b float64) bool { return math.Abs(a-b) > 1e-9 }

// TestBoxesFollowPixels paints a box into the picture, and asserts that after a transform the box is
// around what was painted.
func TestBoxesFollowPixels(t *testing.T) {
	for name, transform := range map[string]Transform{
		"crop":    RandomCrop{Width: 30, Height: 25},
		"resized": RandomResizedCrop{Width: 50, Height: 45, Scale: [2]float64{0.5, 1}, Filter: Nearest},
		"flip":    Flip{Horizontal: 0.5, Vertical: 0.5},
		"pad":     Pad{Left: 5, Bottom: 6},
		"affine":  Affine{Degrees: [2]float64{-90, 90}, Translate: [2]float64{0.2, 0.2}, Scale: [2]float64{0.7, 1.4}, ShearX: [2]float64{-20, 20}, ShearY: [2]float64{-20, 20}, Filter: Nearest},
	} {
		for seed := range uint64(20) {
			m, mask := numberedPixels(40, 30)
			clear(m.Pix)
			clear(mask.Pix)
			for y := 8; y < 19; y++ {
				for x := 11; x < 27; x++ {
					m.Pix[m.PixOffset(x, y)] = 255
					mask.Pix[mask.PixOffset(x, y)] = 1
				}
			}
			s := Sample{Image: m, Mask: mask, Boxes: []Box{{X0: 11, Y0: 8, X1: 27, Y1: 19}}}
			if err := transform.Apply(&s, generator(seed)); err != nil {
				t.Fatal(err)
			}
			x0, y0, x1, y1 := math.MaxInt, math.MaxInt, 0, 0
			for y := range s.Image.Rect.Dy() {
				for x := range s.Image.Rect.Dx() {
					painted := s.Image.RGBAAt(x, y).R > 0
					if painted != (s.Mask.GrayAt(x, y).Y == 1) {
						t.Fatalf("%s, seed %d: picture and mask differ at (%d, %d)", name, seed, x, y)
					}
					if painted {
						x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x+1), max(y1, y+1)
					}
				}
			}
			if len(s.Boxes) == 0 {
				if x1 > 0 {
					t.Errorf("%s, seed %d: the box is dropped, and pixels are there", name, seed)
				}
				continue
			}
			b, most := s.Boxes[0], 1.0
			if name == "affine" {
				most = 2.5 // the tips of turned corners have no pixel's centre
			}
			for i, d := range []float64{float64(x0) - b.X0, float64(y0) - b.Y0, b.X1 - float64(x1), b.Y1 - float64(y1)} {
				if d < -1 || d > most {
					t.Errorf("%s, seed %d: box %v, pixels from (%d, %d) to (%d, %d): side %d is %v off", name, seed, b, x0, y0, x1, y1, i, d)
				}
			}
		}
	}
}
