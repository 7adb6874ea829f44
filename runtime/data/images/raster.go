package images

import (
	"image"
	"image/color"
)

// channel is the type of one channel of a pixel: an integer of 8 bits or a float.
type channel interface{ uint8 | float32 }

// raster is a rectangle of pixels with interleaved channels. A picture of 8 bits is a raster with 4
// channels. A plane of floats, or a mask, is a raster with 1 channel.
type raster[T channel] struct {
	pix                     []T
	width, height, channels int
	// elements from the start of a row to the start of the next
	stride int
}

func (m raster[T]) row(y int) []T { return m.pix[y*m.stride:][:m.width*m.channels] }

// has reports whether m has a pixel in column x of row y.
func (m raster[T]) has(x, y int) bool { return x >= 0 && x < m.width && y >= 0 && y < m.height }

// part returns the part of m in rectangle r. It shares the memory of m. r must be inside m and must
// not be empty.
func (m raster[T]) part(r image.Rectangle) raster[T] {
	return raster[T]{m.pix[r.Min.Y*m.stride+r.Min.X*m.channels:], r.Dx(), r.Dy(), m.channels, m.stride}
}

func rgbaRaster(m *image.RGBA) raster[uint8] {
	return raster[uint8]{m.Pix, m.Rect.Dx(), m.Rect.Dy(), 4, m.Stride}
}

func grayRaster(m *image.Gray) raster[uint8] {
	return raster[uint8]{m.Pix, m.Rect.Dx(), m.Rect.Dy(), 1, m.Stride}
}

// byteOf rounds x and clamps it to the range 0 to 255. NaN becomes 0.
func byteOf(x float32) uint8 {
	if !(x > 0) { // also NaN
		return 0
	}
	if x >= 255 {
		return 255
	}
	return uint8(x + 0.5)
}

func same(x float32) float32 { return x }

// unit maps the values of an 8-bit channel to [0, 1].
var unit = func() (u [256]float32) {
	for i := range u {
		u[i] = float32(i) / 255
	}
	return u
}()

// luma returns the luma of a colour by ITU-R BT.601. It has the range of the channels.
func luma(r, g, b float32) float32 {
	return float32(0.299*r) + float32(0.587*g) + float32(0.114*b)
}

func fillBytes(c color.RGBA) [4]uint8 { return [4]uint8{c.R, c.G, c.B, c.A} }

// fillFloat returns a fill colour for plane c of a picture of floats with `channels` channels. If
// there is a single channel, the colour is the luma. Planes after the fourth are filled with 0.
func fillFloat(fill color.RGBA, c, channels int) [4]float32 {
	if channels == 1 {
		return [4]float32{luma(unit[fill.R], unit[fill.G], unit[fill.B])}
	}
	if c > 3 {
		return [4]float32{}
	}
	return [4]float32{unit[fillBytes(fill)[c]]}
}
