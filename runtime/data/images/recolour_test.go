package images

import (
	"image/color"
	"math"
	"testing"
)

// TestHue compares with colours whose hues are known, and with turns that add up.
func TestHue(t *testing.T) {
	for _, tt := range []struct {
		turns    float32
		from, to [3]float32
	}{
		{1. / 3, [3]float32{1, 0, 0}, [3]float32{0, 1, 0}},
		{-1. / 3, [3]float32{1, 0, 0}, [3]float32{0, 0, 1}},
		{0.5, [3]float32{1, 0, 0}, [3]float32{0, 1, 1}},
		{1. / 6, [3]float32{0, 0, 1}, [3]float32{1, 0, 1}},
		{1. / 12, [3]float32{0.8, 0.2, 0.2}, [3]float32{0.8, 0.5, 0.2}},
		{0.3, [3]float32{0.4, 0.4, 0.4}, [3]float32{0.4, 0.4, 0.4}},
		{0, [3]float32{0.1, 0.7, 0.3}, [3]float32{0.1, 0.7, 0.3}},
	} {
		r, g, b := hue{tt.turns}.colour(tt.from[0], tt.from[1], tt.from[2])
		for c, x := range [3]float32{r, g, b} {
			if math.Abs(float64(x-tt.to[c])) > 1e-6 {
				t.Errorf("%v turned by %v is %v, want %v", tt.from, tt.turns, [3]float32{r, g, b}, tt.to)
				break
			}
		}
	}
	random := generator(1)
	for range 2000 {
		r, g, b := random.Float32(), random.Float32(), random.Float32()
		turns := random.Float32() - 0.5
		x, y, z := hue{turns}.colour(r, g, b)
		if math.Abs(float64(max(x, y, z)-max(r, g, b))) > 1e-6 || math.Abs(float64(min(x, y, z)-min(r, g, b))) > 1e-6 {
			t.Fatalf("(%v, %v, %v) turned by %v is (%v, %v, %v): maximum or minimum changes", r, g, b, turns, x, y, z)
		}
		x, y, z = hue{-turns}.colour(x, y, z)
		if math.Abs(float64(x-r)) > 1e-5 || math.Abs(float64(y-g)) > 1e-5 || math.Abs(float64(z-b)) > 1e-5 {
			t.Fatalf("(%v, %v, %v) turned by %v and back is (%v, %v, %v)", r, g, b, turns, x, y, z)
		}
	}
}

// TestTransparencyLimitsColours asserts that pixels stay valid premultiplied colours.
func TestTransparencyLimitsColours(t *testing.T) {
	for name, transform := range all() {
		m := picture(20, 14)
		for i := range m.Rect.Dx() * m.Rect.Dy() {
			p := m.Pix[4*i:][:4]
			p[3] = uint8(i * 7)
			p[0], p[1], p[2] = min(p[0], p[3]), min(p[1], p[3]), min(p[2], p[3])
		}
		for seed := range uint64(4) {
			s := Sample{Image: m}
			if err := transform.Apply(&s, generator(seed)); err != nil {
				t.Fatal(err)
			}
			for i := range s.Image.Rect.Dx() * s.Image.Rect.Dy() {
				if p := s.Image.Pix[4*i:][:4]; max(p[0], p[1], p[2]) > p[3] {
					t.Fatalf("%s: a pixel is %v", name, p)
				}
			}
		}
	}
}

func TestMeanLuma(t *testing.T) {
	m := flat(4, 2, color.RGBA{255, 255, 255, 255})
	for x := range 4 {
		m.SetRGBA(x, 0, color.RGBA{0, 0, 0, 255})
	}
	s := Sample{Image: m}
	if l, err := s.meanLuma(); err != nil || l != unit[128] { // 127.5 rounded
		t.Errorf("luma %v, %v", l, err)
	}
	s = Sample{CHW: planes(t, m, 3)}
	if l, err := s.meanLuma(); err != nil || math.Abs(float64(l)-0.5) > 1e-6 {
		t.Errorf("luma %v, %v", l, err)
	}
}
