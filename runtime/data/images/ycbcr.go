package images

import (
	"encoding/binary"
	"image"
)

// ycbcrPixels converts m, whose bounds begin at (0, 0), to pixels of dst, which has the size of m. Pixels have the same
// bits as those of image/draw, which computes the terms of chroma again for each pixel that shares them.
func ycbcrPixels(dst raster[uint8], m *image.YCbCr) {
	shift := 0 // 2^shift pixels of a row share their chroma
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		shift = 1
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		shift = 2
	}
	terms := make([]chroma, (dst.width-1)>>shift+1)
	last := -1
	for y := range dst.height {
		if at := m.COffset(0, y); at != last {
			cb, cr := m.Cb[at:][:len(terms)], m.Cr[at:][:len(terms)]
			for i := range terms {
				terms[i] = chromaOf(cb[i], cr[i])
			}
			last = at
		}
		ycbcrRow(dst.row(y), m.Y[m.YOffset(0, y):][:dst.width], terms, shift)
	}
}

// chroma holds what chroma adds to red, green and blue, with 16 fractional bits.
type chroma struct{ red, green, blue int32 }

func chromaOf(cb, cr uint8) chroma {
	b, r := int32(cb)-128, int32(cr)-128
	return chroma{91881 * r, -22554*b - 46802*r, 116130 * b}
}

// ycbcrRow stores a row of opaque pixels in dst.
func ycbcrRow(dst, luma []uint8, terms []chroma, shift int) {
	const most = 1<<24 - 1
	for x, l := range luma {
		c, y := &terms[x>>(shift&63)], int32(l)*0x10101
		r, g, b := y+c.red, y+c.green, y+c.blue
		if uint32(r|g|b) > most {
			r, g, b = min(max(r, 0), most), min(max(g, 0), most), min(max(b, 0), most)
		}
		binary.LittleEndian.PutUint32(dst[4*x:], uint32(r)>>16|uint32(g)>>8&0xff00|uint32(b)&0xff0000|0xff<<24)
	}
}
