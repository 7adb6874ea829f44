package images

import (
	"fmt"
	"image"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

// plainlyScaled scales m with one sum for each channel: first rows, whose pixels are rounded and clamped, then columns.
func plainlyScaled(m *image.RGBA, width, height int, f Filter) *image.RGBA {
	var x, y windows
	x.plan(f.kernel(), m.Rect.Dx(), width)
	y.plan(f.kernel(), m.Rect.Dy(), height)
	scaled := func(w *windows, i int, channel func(j int) uint8) uint8 {
		begin, sum, weights := 0, int64(1<<(cpu.PixelWeightBits-1)), w.fixed(nil)
		if i > 0 {
			begin = w.end[i-1]
		}
		for j, weight := range weights[begin:w.end[i]] {
			sum += int64(channel(w.first[i]+j)) * int64(weight)
		}
		return uint8(min(max(sum>>cpu.PixelWeightBits, 0), 255))
	}
	rows, out := image.NewRGBA(image.Rect(0, 0, width, m.Rect.Dy())), image.NewRGBA(image.Rect(0, 0, width, height))
	for v := range m.Rect.Dy() {
		for u := range 4 * width {
			rows.Pix[v*rows.Stride+u] = scaled(&x, u/4, func(j int) uint8 { return m.Pix[v*m.Stride+4*j+u%4] })
		}
	}
	for v := range height {
		for u := range out.Stride {
			out.Pix[v*out.Stride+u] = scaled(&y, v, func(j int) uint8 { return rows.Pix[j*rows.Stride+u] })
		}
	}
	return out
}

func TestScaledPixels(t *testing.T) {
	r := generator(2)
	for range 200 {
		m := image.NewRGBA(image.Rect(0, 0, 1+r.IntN(40), 1+r.IntN(40)))
		for i := range m.Pix {
			m.Pix[i] = uint8(r.IntN(256))
			if r.IntN(2) == 0 {
				m.Pix[i] = uint8(r.IntN(2) * 255) // a cubic goes beyond 0 and 255
			}
		}
		width, height, f := 1+r.IntN(40), 1+r.IntN(40), Filter(r.IntN(2))
		got := apply(t, Resize{Width: width, Height: height, Filter: f}, m)
		wantPicture(t, fmt.Sprint(m.Rect.Max, " to ", width, height, " filter ", f), got, plainlyScaled(m, width, height, f), 0)
	}
}

// TestTallToWide asserts that a picture is not scaled if its scaled rows exceed the limit, however small the result is.
func TestTallToWide(t *testing.T) {
	tall := image.NewRGBA(image.Rect(0, 0, 1, 1<<14))
	s := Sample{Image: tall}
	err := Resize{Width: 1 << 14, Height: 1}.Apply(&s, generator(1))
	wantError(t, err, "resize: before columns are scaled: 16384 × 16384 pixels: limit is 67108864 pixels (images.PixelLimit)")
	if got := apply(t, Resize{Width: 1 << 14, Height: 1, Filter: Nearest}, tall); got.Rect.Dx() != 1<<14 {
		t.Errorf("%v", got.Rect)
	}
}
