package images

import (
	"fmt"
	"image"
	"testing"

	"golang.org/x/image/draw"
)

// TestYCbCr compares pixels with those of image/draw.
func TestYCbCr(t *testing.T) {
	r := generator(1)
	for _, ratio := range []image.YCbCrSubsampleRatio{
		image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
		image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
	} {
		for _, size := range []image.Point{{1, 1}, {2, 1}, {3, 2}, {4, 5}, {7, 3}, {64, 33}} {
			whole := image.NewYCbCr(image.Rectangle{Max: size.Add(image.Pt(3, 2))}, ratio)
			for _, samples := range [][]uint8{whole.Y, whole.Cb, whole.Cr} {
				for i := range samples {
					samples[i] = uint8(r.IntN(256))
					if i%5 == 0 {
						samples[i] = uint8(r.IntN(2) * 255) // many colours are out of range
					}
				}
			}
			m := whole.SubImage(image.Rectangle{Max: size}).(*image.YCbCr)
			want := image.NewRGBA(image.Rectangle{Max: size})
			draw.Draw(want, want.Rect, m, image.Point{}, draw.Src)
			wantPicture(t, fmt.Sprint(ratio, size), rgba(m), want, 0)
			part := m.SubImage(image.Rectangle{Min: size.Div(2), Max: size}).(*image.YCbCr)
			want = image.NewRGBA(image.Rectangle{Max: part.Rect.Size()})
			draw.Draw(want, want.Rect, part, part.Rect.Min, draw.Src)
			wantPicture(t, fmt.Sprint(ratio, part.Rect), rgba(part), want, 0)
		}
	}
}
