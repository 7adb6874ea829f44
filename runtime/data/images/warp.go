package images

import (
	"image/color"
	"math"
)

// warp describes how a picture is sampled at transformed points. The result has the size of the
// picture. Points outside of the picture are filled.
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

// warped computes dst from src. finish converts an interpolated value to a channel.
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

// between locates x among n pixels, where the centre of pixel i is at i + ½. It returns the last
// pixel whose centre is at or before x. `share` is the position of x between this centre and the
// next, in [0, 1). If x is before all centres, both results are 0.
func between(x float64, n int) (i int, share float32) {
	x -= 0.5
	if x <= 0 {
		return 0, 0
	}
	whole := math.Floor(x)
	return min(int(whole), n-1), float32(x - whole)
}

// mix interpolates linearly from a to b.
func mix(a, b, share float32) float32 { return a + float32(share*(b-a)) }

// about returns m applied relative to the point (x, y) instead of the origin.
func (m affine) about(x, y float64) affine {
	return affine{1, 0, x, 0, 1, y}.after(m).after(affine{1, 0, -x, 0, 1, -y})
}

// rotation returns a rotation about the origin. It is clockwise on the screen, where y points down.
func rotation(degrees float64) affine {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return affine{cos, -sin, 0, sin, cos, 0}
}
