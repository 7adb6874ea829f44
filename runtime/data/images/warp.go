package images

import (
	"image/color"
	"math"
)

// warp computes a picture of the same size whose pixels are at other points of the picture. Pixels
// outside of the picture are filled; pixels inside are interpolated between the pixels of the picture.
type warp struct {
	width, height int
	m             affine // maps points of the result to points of the picture
	filter        Filter // Bilinear or Nearest
	fill          color.RGBA
	class         uint8
}

func (g warp) size() (width, height int) { return g.width, g.height }
func (g warp) source() affine            { return g.m }

func (g warp) bytes(dst, src raster[uint8], _ *scaling) {
	warped(dst, src, g.m, g.filter, fillBytes(g.fill), byteOf)
}

func (g warp) floats(dst, src raster[float32], c, channels int, _ *scaling) {
	warped(dst, src, g.m, g.filter, fillFloat(g.fill, c, channels), same)
}

func (g warp) classes(dst, src raster[uint8], _ *scaling) {
	warped(dst, src, g.m, Nearest, [4]uint8{g.class}, byteOf)
}

// warped computes the pixels of dst. finish makes a channel of an interpolated value.
func warped[T channel](dst, src raster[T], m affine, filter Filter, fill [4]T, finish func(float32) T) {
	n := dst.channels
	for y := range dst.height {
		out := dst.row(y)
		for x := range dst.width {
			u, v := m.at(float64(x)+0.5, float64(y)+0.5)
			if !(u >= 0 && u < float64(src.width) && v >= 0 && v < float64(src.height)) {
				copy(out[x*n:][:n], fill[:])
				continue
			}
			if filter == Nearest {
				copy(out[x*n:][:n], src.pix[int(v)*src.stride+int(u)*n:])
				continue
			}
			i, du := between(u, src.width)
			j, dv := between(v, src.height)
			right, below := 0, 0
			if i < src.width-1 {
				right = n
			}
			if j < src.height-1 {
				below = src.stride
			}
			p := src.pix[j*src.stride+i*n:]
			for c := range n {
				above := mix(float32(p[c]), float32(p[c+right]), du)
				under := mix(float32(p[c+below]), float32(p[c+right+below]), du)
				out[x*n+c] = finish(mix(above, under, dv))
			}
		}
	}
}

// between returns the index of the last of n pixels whose centre is at or before x, or 0 if there is none. The
// centre of pixel i is i + 0.5. share is the part of the way from this centre to the next, from 0 on and below 1. It is 0
// before the first centre.
func between(x float64, n int) (i int, share float32) {
	x -= 0.5
	if x <= 0 {
		return 0, 0
	}
	whole := math.Floor(x)
	return min(int(whole), n-1), float32(x - whole)
}

// mix returns the value at a share of the way from a to b.
func mix(a, b, share float32) float32 { return a + float32(share*(b-a)) }

// about returns the map that applies m around a point.
func (m affine) about(x, y float64) affine {
	return affine{1, 0, x, 0, 1, y}.after(m).after(affine{1, 0, -x, 0, 1, -y})
}

// rotation returns the map that turns points to the right by degrees: x points to the right, and y
// down.
func rotation(degrees float64) affine {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return affine{cos, -sin, 0, sin, cos, 0}
}
