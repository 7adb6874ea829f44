package images

import (
	"image"
	"math"
	"testing"
)

// TestRandomRectangles compares the rectangles with the distribution of the definition.
func TestRandomRectangles(t *testing.T) {
	c := RandomResizedCrop{Scale: [2]float64{0.1, 0.5}, Ratio: [2]float64{0.5, 2}}
	r := generator(1)
	const n = 20000
	var area, logs, squares float64
	for range n {
		part := c.rectangle(1000, 1000, r)
		if part.Empty() || !part.In(image.Rect(0, 0, 1000, 1000)) {
			t.Fatalf("rectangle %v", part)
		}
		share := float64(part.Dx()*part.Dy()) / 1e6
		ratio := float64(part.Dx()) / float64(part.Dy())
		if share < 0.0995 || share > 0.501 || ratio < 0.49 || ratio > 2.02 {
			t.Fatalf("rectangle %v has share %v and ratio %v", part, share, ratio)
		}
		area += share / n
		logs += math.Log(ratio) / n
		squares += math.Log(ratio) * math.Log(ratio) / n
	}
	// Uniform areas, and uniform logarithms, in [-ln 2, ln 2]. Rectangles that do not fit are not drawn,
	// which does not happen here: no side is above 1000.
	if want := math.Ln2 * math.Ln2 / 3; math.Abs(area-0.3) > 0.004 || math.Abs(logs) > 0.015 || math.Abs(squares-want) > 0.01 {
		t.Errorf("mean share %v, logarithms of mean %v and mean square %v, want 0.3, 0 and %v", area, logs, squares, want)
	}
}

// TestRectanglesThatDoNotFit asserts what happens if the picture has other proportions.
func TestRectanglesThatDoNotFit(t *testing.T) {
	for size, want := range map[image.Point]image.Rectangle{
		{1000, 10}: image.Rect(493, 0, 506, 10), // 13 = round(10·4/3)
		{10, 1000}: image.Rect(0, 493, 10, 506),
		{1, 1}:     image.Rect(0, 0, 1, 1),
	} {
		c := RandomResizedCrop{Scale: [2]float64{1, 1}, Ratio: [2]float64{3. / 4, 4. / 3}}
		if got := c.rectangle(size.X, size.Y, generator(1)); got != want {
			t.Errorf("%v: %v, want %v", size, got, want)
		}
	}
}

// TestResizedCrop asserts that a crop of everything is a resize, and a crop of one pixel flat.
func TestResizedCrop(t *testing.T) {
	m := picture(12, 12)
	got := apply(t, RandomResizedCrop{Width: 7, Height: 9, Scale: [2]float64{1, 1}, Ratio: [2]float64{1, 1}}, m)
	wantPicture(t, "everything", got, apply(t, Resize{Width: 7, Height: 9}, m), 0)
	got = apply(t, RandomResizedCrop{Width: 3, Height: 2, Scale: [2]float64{1. / 144, 1. / 144}, Ratio: [2]float64{1, 1}}, m)
	wantPicture(t, "a pixel", got, flat(3, 2, got.RGBAAt(0, 0)), 0)
}
