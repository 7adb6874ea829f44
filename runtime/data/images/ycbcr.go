package images

import (
	"image"

	"github.com/burngen/burngen/runtime/cpu"
)

// ycbcrPixels converts m, whose bounds begin at (0, 0), to pixels of dst, which has the size of m. Pixels have the same
// bits as those of image/draw.
func ycbcrPixels(dst raster[uint8], m *image.YCbCr) {
	shift := 0 // 2^shift pixels of a row share their chroma
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		shift = 1
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		shift = 2
	}
	for y := range dst.height {
		luma, chroma := m.Y[m.YOffset(0, y):][:dst.width], m.COffset(0, y)
		cpu.YCbCrToRGBA(dst.row(y), luma, m.Cb[chroma:], m.Cr[chroma:], shift)
	}
}
