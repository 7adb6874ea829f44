package image

import (
	"bytes"
	"image"

	"golang.org/x/image/webp"
)

var configWebP = streamed(webp.DecodeConfig)

// decodeWebP decodes a WebP image. It upsamples the chroma of lossy images as libwebp does.
func decodeWebP(data []byte, to *canvas) error {
	m, err := webp.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	var p *image.YCbCr
	switch m := m.(type) {
	case *image.YCbCr:
		p = m
	case *image.NYCbCrA:
		p = &m.YCbCr
	default:
		return to.draw(m)
	}
	if err := to.fits(m); err != nil {
		return err
	}
	columns, rows := (to.width+1)/2, (to.height+1)/2
	for y := range to.height {
		near, far := y/2*p.CStride, neighbour(y, rows)*p.CStride
		for x := range to.width {
			i, j := x/2, neighbour(x, columns)
			u := mix(p.Cb[near+i], p.Cb[near+j], p.Cb[far+i], p.Cb[far+j])
			v := mix(p.Cr[near+i], p.Cr[near+j], p.Cr[far+i], p.Cr[far+j])
			r, g, b := yuv(p.Y[y*p.YStride+x], u, v)
			to.set(x, y, r, g, b)
		}
	}
	return nil
}

// mix returns (9·near + 3·side + 3·above + across)/16, rounded as libwebp does.
func mix(near, side, above, across uint8) uint8 {
	n, s, a, c := int(near), int(side), int(above), int(across)
	return uint8(((n+3*s+3*a+c+8)>>3 + n) >> 1)
}

// yuv converts a pixel from YCbCr of ITU-R BT.601, with luma from 16 to 235, to RGB. It uses the
// fixed-point arithmetic of libwebp.
func yuv(y, u, v uint8) (r, g, b uint8) {
	times := func(v uint8, factor int32) int32 { return int32(v) * factor >> 8 }
	l := times(y, 19077)
	return clamp((l + times(v, 26149) - 14234) >> 6),
		clamp((l - times(u, 6419) - times(v, 13320) + 8708) >> 6),
		clamp((l + times(u, 33050) - 17685) >> 6)
}
