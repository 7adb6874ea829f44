package images

import (
	"image/color"
	"math"
	"testing"
)

func TestErase(t *testing.T) {
	red := color.RGBA{R: 200}
	m := flat(100, 80, color.RGBA{1, 1, 1, 255})
	r := generator(3)
	var share float64
	const n = 800
	for range n {
		s := Sample{Image: m}
		if err := (Erase{Scale: [2]float64{0.1, 0.3}, Ratio: [2]float64{0.5, 2}, Fill: red}).Apply(&s, r); err != nil {
			t.Fatal(err)
		}
		x0, y0, x1, y1, count := 100, 80, 0, 0, 0
		for y := range 80 {
			for x := range 100 {
				switch s.Image.RGBAAt(x, y) {
				case color.RGBA{200, 0, 0, 255}:
					x0, y0, x1, y1, count = min(x0, x), min(y0, y), max(x1, x+1), max(y1, y+1), count+1
				case color.RGBA{1, 1, 1, 255}:
				default:
					t.Fatalf("pixel %v", s.Image.RGBAAt(x, y))
				}
			}
		}
		if w, h := x1-x0, y1-y0; count != w*h || float64(count) < 0.09*8000 || float64(count) > 0.31*8000 || float64(w)/float64(h) < 0.45 || float64(w)/float64(h) > 2.2 {
			t.Fatalf("%d pixels from (%d, %d) to (%d, %d) are erased", count, x0, y0, x1, y1)
		}
		share += float64(count) / 8000 / n
	}
	if math.Abs(share-0.2) > 0.008 {
		t.Errorf("on average %v is erased", share)
	}
	wantPicture(t, "the picture itself", m, flat(100, 80, color.RGBA{1, 1, 1, 255}), 0)
}

func TestEraseWithNoise(t *testing.T) {
	everything := Erase{Scale: [2]float64{1, 1}, Ratio: [2]float64{1, 1}, Noise: true}
	p := applyCHW(t, everything, CHW{make([]float32, 3*64*64), 3, 64, 64})
	var mean, square float64
	for _, x := range p.Data {
		mean += float64(x) / float64(len(p.Data))
		square += float64(x) * float64(x) / float64(len(p.Data))
	}
	if math.Abs(mean) > 0.03 || math.Abs(square-1) > 0.05 {
		t.Errorf("mean %v, mean square %v of normal noise", mean, square)
	}
	m := apply(t, everything, flat(64, 64, color.RGBA{A: 255}))
	mean = 0
	for i, v := range m.Pix {
		if i%4 == 3 {
			if v != 255 {
				t.Fatal("noise in alpha")
			}
			continue
		}
		mean += float64(v) / (3 * 64 * 64)
	}
	if math.Abs(mean-127.5) > 3 {
		t.Errorf("mean %v of uniform noise", mean)
	}
}
