package images

import "encoding/binary"

// The sums of the four channels of a pixel are in two numbers: those of red and blue in one, those of green and alpha
// in the other. Each number has a sum in its lower 32 bits and adds 2³² times the other sum. One multiplication by a
// weight thus adds to two sums.
const (
	lanes = 0x000000ff000000ff
	// half is ½ in both sums. Sums start with it, and their fractional bits are cut off at the end: this
	// rounds to the nearest integer.
	half = 1<<(fixedBits-1) | 1<<(fixedBits-1+32)
)

// pixelOf returns the pixel whose channels are the integer parts of two pairs of sums. Each sum is at least 0 and
// below 256. Red is in the lowest byte.
func pixelOf(redBlue, greenAlpha int64) uint32 {
	p := uint64(redBlue)>>fixedBits&lanes | uint64(greenAlpha)>>fixedBits&lanes<<8
	return uint32(p | p>>16)
}

// clampedPixelOf is [pixelOf] for sums that may be out of range. Channels are clamped to 0 … 255.
func clampedPixelOf(redBlue, greenAlpha int64) uint32 {
	r, g := int64(int32(redBlue)), int64(int32(greenAlpha))
	return clamped(r) | clamped(g)<<8 | clamped((redBlue-r)>>32)<<16 | clamped((greenAlpha-g)>>32)<<24
}

func clamped(sum int64) uint32 { return uint32(min(max(sum>>fixedBits, 0), 255)) }

// scaledPixels scales a raster of bytes of 4 channels. It first scales along rows and stores the result in `rows`. It
// then scales along columns. wx and wy are the weights of the windows x and y in fixed point. `clamp` says whether sums
// of channels may be negative, or 256 and more.
func scaledPixels(dst, src raster[uint8], x, y *windows, wx, wy []int32, clamp bool, rows []uint8) {
	length := 4 * dst.width
	for v := range src.height {
		in, out := src.row(v), rows[v*length:][:length]
		begin := 0
		for u, end := range x.end {
			binary.LittleEndian.PutUint32(out[4*u:], weighted(in, 4*x.first[u], 4, wx[begin:end], clamp))
			begin = end
		}
	}
	begin := 0
	for v, end := range y.end {
		in, out := rows[y.first[v]*length:], dst.row(v)
		for u := 0; u < length; u += 4 {
			binary.LittleEndian.PutUint32(out[u:], weighted(in, u, length, wy[begin:end], clamp))
		}
		begin = end
	}
}

// weighted returns the weighted sum of pixels. The first pixel is at in[at:], and the next ones follow at distances of
// `step` bytes. See [scaledPixels] for clamp.
func weighted(in []uint8, at, step int, weights []int32, clamp bool) uint32 {
	var redBlue, greenAlpha int64 = half, half
	for _, w := range weights {
		p := uint64(binary.LittleEndian.Uint32(in[at:]))
		p |= p << 16
		redBlue += int64(p&lanes) * int64(w)
		greenAlpha += int64(p>>8&lanes) * int64(w)
		at += step
	}
	if clamp {
		return clampedPixelOf(redBlue, greenAlpha)
	}
	return pixelOf(redBlue, greenAlpha)
}
