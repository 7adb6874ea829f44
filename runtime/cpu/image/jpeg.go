package image

import (
	"bytes"
	"image"
	"image/jpeg"
)

// decodeJPEG decodes a JPEG image. Chroma planes of half the width, height or both are
// interpolated: see [upsample].
func decodeJPEG(data []byte, to *canvas) error {
	m, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	p, ok := m.(*image.YCbCr)
	if !ok {
		return to.draw(m)
	}
	if err := to.fits(m); err != nil {
		return err
	}
	cb, cr := make([]uint8, to.width), make([]uint8, to.width)
	scratch := make([]int, to.width)
	for y := range to.height {
		upsample(cb, p, p.Cb, y, scratch)
		upsample(cr, p, p.Cr, y, scratch)
		for x := range to.width {
			r, g, b := ycc(p.Y[p.YOffset(p.Rect.Min.X+x, p.Rect.Min.Y+y)], cb[x], cr[x])
			to.set(x, y, r, g, b)
		}
	}
	return nil
}

// ycc converts a pixel by the formulas of JFIF, in fractions of 2¹⁶: red and blue
// rounded, green rounded together.
func ycc(y, cb, cr uint8) (r, g, b uint8) {
	const half = 1 << 15
	l, u, v := int32(y), int32(cb)-128, int32(cr)-128
	return clamp(l + (91881*v+half)>>16), clamp(l + (-22554*u-46802*v+half)>>16), clamp(l + (116130*u+half)>>16)
}

func clamp(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

// upsample stores row y of a chroma plane at full width. Planes of half the width or
// height are interpolated by a triangle filter: the centres of two results lie a
// quarter of a sample before and after that of a sample, so that the nearest sample
// weighs 3/4 and the next 1/4 along each such axis; halves are rounded up and down in
// turn. Other ratios, and planes of at most 2 columns, repeat samples. The scratch is
// as long as the row.
func upsample(dst []uint8, p *image.YCbCr, plane []uint8, y int, scratch []int) {
	size := p.Rect.Size()
	half := image.Pt((size.X+1)/2, (size.Y+1)/2)
	ratio := p.SubsampleRatio
	high := ratio == image.YCbCrSubsampleRatio420 || ratio == image.YCbCrSubsampleRatio440
	wide := ratio == image.YCbCrSubsampleRatio420 || ratio == image.YCbCrSubsampleRatio422
	if !wide && !high || wide && half.X <= 2 {
		for x := range dst {
			dst[x] = plane[p.COffset(p.Rect.Min.X+x, p.Rect.Min.Y+y)]
		}
		return
	}
	sums := scratch[:size.X] // in quarters where the height is interpolated
	if wide {
		sums = scratch[:half.X]
	}
	if high {
		near := plane[y/2*p.CStride:][:len(sums)]
		far := plane[neighbour(y, half.Y)*p.CStride:][:len(sums)]
		for x := range sums {
			sums[x] = 3*int(near[x]) + int(far[x])
		}
	} else {
		for x, v := range plane[y*p.CStride:][:len(sums)] {
			sums[x] = int(v)
		}
	}
	for x := range dst {
		switch {
		case !wide:
			dst[x] = uint8((sums[x] + 1 + y%2) / 4)
		case !high:
			dst[x] = uint8((3*sums[x/2] + sums[neighbour(x, half.X)] + 1 + x%2) / 4)
		default:
			dst[x] = uint8((3*sums[x/2] + sums[neighbour(x, half.X)] + 8 - x%2) / 16)
		}
	}
}

// neighbour returns the sample, of n, that is the next to place x of twice as many.
func neighbour(x, n int) int { return min(max(x/2-1+2*(x%2), 0), n-1) }
