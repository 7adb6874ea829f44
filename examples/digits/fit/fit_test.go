package fit

import (
	"image"
	"image/color"
	"math"
	"testing"
)

// page returns a picture of one colour with a rectangle of another.
func page(w, h int, paper, ink color.Gray, r image.Rectangle) *image.Gray {
	m := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := paper
			if (image.Point{X: x, Y: y}).In(r) {
				c = ink
			}
			m.SetGray(x, y, c)
		}
	}
	return m
}

var (
	black = color.Gray{Y: 0}
	white = color.Gray{Y: 255}
)

func TestCentresTheMass(t *testing.T) {
	for name, picture := range map[string]*image.Gray{
		"large":             page(300, 200, white, black, image.Rect(20, 30, 80, 180)),
		"small":             page(12, 12, white, black, image.Rect(1, 1, 4, 9)),
		"as it is":          page(28, 28, black, white, image.Rect(0, 2, 9, 22)),
		"light on dark":     page(100, 100, black, white, image.Rect(60, 10, 90, 80)),
		"grey on grey":      page(100, 100, color.Gray{Y: 120}, color.Gray{Y: 90}, image.Rect(60, 10, 90, 80)),
		"touching the edge": page(100, 100, white, black, image.Rect(40, 0, 60, 100)),
		"wide":              page(100, 100, white, black, image.Rect(5, 30, 95, 60)),
	} {
		t.Run(name, func(t *testing.T) {
			var m [28][28]float32
			if err := Digit(&m, picture); err != nil {
				t.Fatal(err)
			}
			var mass, x, y float64
			for i := range Side {
				for j, v := range m[i] {
					if v < 0 || v > 1 {
						t.Fatalf("pixel %d,%d is %g", j, i, v)
					}
					mass += float64(v)
					x += float64(v) * (float64(j) + .5)
					y += float64(v) * (float64(i) + .5)
				}
			}
			if x, y := x/mass, y/mass; math.Abs(x-14) > .1 || math.Abs(y-14) > .1 {
				t.Errorf("centre of mass at %.2f, %.2f; want 14, 14", x, y)
			}
			if m[14][14] < .99 {
				t.Errorf("centre is %g, want 1", m[14][14])
			}
		})
	}
}

func TestFillsTheBox(t *testing.T) {
	var m [28][28]float32
	if err := Digit(&m, page(200, 200, white, black, image.Rect(50, 50, 90, 150))); err != nil {
		t.Fatal(err)
	}
	var inked image.Rectangle
	for y := range Side {
		for x, v := range m[y] {
			if v > .5 {
				inked = inked.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if want := image.Rect(10, 4, 18, 24); inked != want {
		t.Errorf("ink covers %v, want %v", inked, want)
	}
}

func TestRefusesAPictureOfNothing(t *testing.T) {
	for name, picture := range map[string]image.Image{
		"blank": page(30, 30, white, black, image.Rectangle{}),
		"empty": image.NewGray(image.Rectangle{}),
	} {
		var m [28][28]float32
		if err := Digit(&m, picture); err == nil {
			t.Errorf("%s picture: no error", name)
		}
	}
}

func TestTransparentPixelsAreWhite(t *testing.T) {
	for _, test := range []struct {
		colour color.Color
		want   float64
	}{
		{color.Transparent, 1},
		{color.White, 1},
		{color.Black, 0},
		{color.NRGBA{A: 0x80}, .498},
	} {
		if got := shadeOf(test.colour); math.Abs(got-test.want) > 1e-3 {
			t.Errorf("shade of %v is %.3f, want %.3f", test.colour, got, test.want)
		}
	}
}
