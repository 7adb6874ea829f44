package images

import "image/color"

// move moves the pixels of a picture: pixel (x, y) of the result is pixel (x0 + xx·x + xy·y, y0 +
// yx·x + yy·y) of the picture. The factors xx, xy, yx and yy are -1, 0 or 1. In each of the two
// sums, exactly one factor is not 0.
type move struct {
	width, height          int // of the result
	x0, xx, xy, y0, yx, yy int
	edges                  PadMode
	fill                   color.RGBA
	class                  uint8
}

func (m move) size() (width, height int) { return m.width, m.height }

// source returns m as a map from points of the result to points of the picture. The centre of pixel
// i is at i + ½.
func (m move) source() affine {
	centre := func(first, factors int) float64 { return float64(first) + 0.5 - float64(factors)/2 }
	return affine{
		float64(m.xx), float64(m.xy), centre(m.x0, m.xx+m.xy),
		float64(m.yx), float64(m.yy), centre(m.y0, m.yx+m.yy),
	}
}

func (m move) bytes(dst, src raster[uint8], _ *scaling) { moved(dst, src, m, fillBytes(m.fill)) }

func (m move) floats(dst, src raster[float32], c, channels int, _ *scaling) {
	moved(dst, src, m, fillFloat(m.fill, c, channels))
}

func (m move) classes(dst, src raster[uint8], _ *scaling) { moved(dst, src, m, [4]uint8{m.class}) }

// moved applies m to a raster of 1 or 4 channels. With PadConstant, pixels from outside of the
// picture become `fill`.
func moved[T channel](dst, src raster[T], m move, fill [4]T) {
	for y := range dst.height {
		out := dst.row(y)
		u, v := m.x0+m.xy*y, m.y0+m.yy*y
		x := 0
		if m.xx == 1 && v >= 0 && v < src.height {
			// The pixels of a row stay a row.
			for ; x < dst.width && u < 0; x, u = x+1, u+1 {
				put(out, x, src, u, v, m.edges, fill)
			}
			if n := min(dst.width-x, src.width-u); n > 0 {
				copy(out[x*dst.channels:][:n*dst.channels], src.row(v)[u*src.channels:])
				x, u = x+n, u+n
			}
		}
		if last := dst.width - 1 - x; last >= 0 && src.has(u, v) && src.has(u+m.xx*last, v+m.yx*last) {
			// The pixels between two pixels of the picture are in it, too.
			at, step := v*src.stride+u*src.channels, m.yx*src.stride+m.xx*src.channels
			for ; x < dst.width; x, at = x+1, at+step {
				if src.channels == 1 {
					out[x] = src.pix[at]
				} else {
					*(*[4]T)(out[4*x:]) = [4]T(src.pix[at : at+4])
				}
			}
		}
		for ; x < dst.width; x++ {
			put(out, x, src, u, v, m.edges, fill)
			u, v = u+m.xx, v+m.yx
		}
	}
}

// put stores pixel (u, v) of src as pixel x of the row `out`. If (u, v) is outside of src, `edges`
// and `fill` determine the stored pixel.
func put[T channel](out []T, x int, src raster[T], u, v int, edges PadMode, fill [4]T) {
	if !src.has(u, v) {
		if edges == PadConstant {
			copy(out[x*src.channels:][:src.channels], fill[:])
			return
		}
		u, v = edges.inside(u, src.width), edges.inside(v, src.height)
	}
	at := v*src.stride + u*src.channels
	if src.channels == 1 {
		out[x] = src.pix[at]
		return
	}
	*(*[4]T)(out[4*x:]) = [4]T(src.pix[at : at+4])
}
