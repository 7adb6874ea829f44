package images

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math"
	"testing"

	"golang.org/x/image/draw"
)

// flat returns a picture of one colour.
func flat(width, height int, c color.RGBA) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(m, m.Rect, image.NewUniform(c), image.Point{}, draw.Src)
	return m
}

func TestResizeSizes(t *testing.T) {
	for _, tt := range []struct {
		resize        Resize
		width, height int
	}{
		{Resize{Width: 10, Height: 3}, 10, 3},
		{Resize{Width: 10}, 10, 5},
		{Resize{Height: 33}, 66, 33},
		{Resize{Shorter: 5}, 10, 5},
		{Resize{Width: 1}, 1, 1},
		{Resize{Width: 7}, 7, 3},
	} {
		m := apply(t, tt.resize, picture(20, 10))
		if size := m.Rect.Size(); size != image.Pt(tt.width, tt.height) {
			t.Errorf("%+v: %v, want %d × %d", tt.resize, size, tt.width, tt.height)
		}
	}
	if size := apply(t, Resize{Shorter: 224}, picture(375, 500)).Rect.Size(); size != image.Pt(224, 298) {
		t.Errorf("375 × 500 pixels become %v", size) // torchvision: int(224·500/375)
	}
}

// TestResizeClosedForms compares with what follows from the definition of the kernels.
func TestResizeClosedForms(t *testing.T) {
	for _, f := range []Filter{Bilinear, Bicubic, Nearest} {
		grey := color.RGBA{77, 200, 3, 255}
		for _, size := range []image.Point{{1, 1}, {7, 40}, {64, 3}} {
			got := apply(t, Resize{Width: size.X, Height: size.Y, Filter: f}, flat(20, 13, grey))
			wantPicture(t, fmt.Sprint("flat ", f, size), got, flat(size.X, size.Y, grey), 0)
		}
		m := picture(9, 8)
		wantPicture(t, fmt.Sprint("same size ", f), apply(t, Resize{Width: 9, Height: 8, Filter: f}, m), m, 0)
	}
	// A tent of a pixel of the result: the weights of four pixels that become two.
	line := CHW{[]float32{8, 0, 0, 0}, 1, 1, 4}
	weights := []float64{0.75, 0.75, 0.25} // distances ½, ½, 1½ in steps of 2
	want := 8 * weights[0] / (weights[0] + weights[1] + weights[2])
	got := applyCHW(t, Resize{Width: 2, Height: 1}, line)
	if math.Abs(float64(got.Data[0])-want) > 1e-6 || math.Abs(float64(got.Data[1])) > 1e-6 {
		t.Errorf("four pixels become %v, want %v and 0", got.Data, want)
	}
	// Between two pixels: a quarter of the way is at ¾ and ¼.
	line = CHW{[]float32{0, 1}, 1, 1, 2}
	if got := applyCHW(t, Resize{Width: 4, Height: 1}, line).Data; got[0] != 0 || got[1] != 0.25 || got[2] != 0.75 || got[3] != 1 {
		t.Errorf("two pixels become %v", got)
	}
	// Slopes stay slopes, away from the edges.
	slope := CHW{make([]float32, 60), 1, 1, 60}
	for i := range slope.Data {
		slope.Data[i] = float32(i) + 0.5
	}
	for _, f := range []Filter{Bilinear, Bicubic} {
		for _, n := range []int{20, 30, 120, 150} {
			got := applyCHW(t, Resize{Width: n, Height: 1, Filter: f}, slope).Data
			for i := n / 5; i < n-n/5; i++ {
				if want := (float64(i) + 0.5) * 60 / float64(n); math.Abs(float64(got[i])-want) > 0.01 {
					t.Errorf("filter %d, %d pixels: %v at %d, want %v", f, n, got[i], i, want)
				}
			}
		}
	}
	nearestOf := applyCHW(t, Resize{Width: 3, Height: 1, Filter: Nearest}, slope).Data
	if nearestOf[0] != 10.5 || nearestOf[1] != 30.5 || nearestOf[2] != 50.5 {
		t.Errorf("nearest pixels are %v", nearestOf)
	}
}

// TestResizeAgreesWithDraw compares with the scalers of x/image/draw. Bicubic values of 8 bits are limited
// between rows and columns, and draw's are not.
func TestResizeAgreesWithDraw(t *testing.T) {
	m := picture(40, 31)
	for f, kernel := range map[Filter]*draw.Kernel{Bilinear: draw.BiLinear, Bicubic: draw.CatmullRom} {
		for _, size := range []image.Point{{40, 31}, {17, 9}, {80, 50}, {13, 60}} {
			want := image.NewRGBA(image.Rectangle{Max: size})
			kernel.Scale(want, want.Rect, m, m.Rect, draw.Src, nil)
			resize := Resize{Width: size.X, Height: size.Y, Filter: f}
			if f == Bilinear {
				wantPicture(t, fmt.Sprint(f, size), apply(t, resize, m), want, 1)
			}
			floats := applyCHW(t, resize, planes(t, m, 3))
			rounded := flat(size.X, size.Y, color.RGBA{A: 255})
			for i := range size.X * size.Y {
				for c := range 3 {
					rounded.Pix[4*i+c] = byteOf(255 * floats.plane(c).pix[i])
				}
			}
			wantPicture(t, fmt.Sprint("floats ", f, size), rounded, want, 1)
		}
	}
}

// TestResizeMasks asserts that masks take the classes of pixels, not means.
func TestResizeMasks(t *testing.T) {
	m, mask := numberedPixels(4, 2)
	for _, f := range []Filter{Bilinear, Bicubic, Nearest} {
		s := Sample{Image: m, Mask: mask}
		if err := (Resize{Width: 2, Height: 4, Filter: f}).Apply(&s, generator(1)); err != nil {
			t.Fatal(err)
		}
		if want := []uint8{1, 3, 1, 3, 5, 7, 5, 7}; !bytes.Equal(s.Mask.Pix, want) {
			t.Errorf("filter %d: classes %v, want %v", f, s.Mask.Pix, want)
		}
	}
}

func BenchmarkResize(b *testing.B) {
	s := Sample{Image: picture(500, 375)}
	m, r := s.Image, generator(1)
	for b.Loop() {
		s.Image = m
		if err := (Resize{Width: 224, Height: 224}).Apply(&s, r); err != nil {
			b.Fatal(err)
		}
	}
}
