package images

import "encoding/binary"

// Two numbers hold the sums of the four channels of a pixel: one the sums of red and blue, the
// other the sums of green and alpha. Each number is one sum plus 2³² times the other. One
// multiplication by a weight thus adds to two sums.
const (
	lanes = 0x000000ff000000ff
	// half is ½ in both sums. Sums start with it, and their fractional bits are cut off at the end: this
	// rounds to the nearest integer.
	half = 1<<(fixedBits-1) | 1<<(fixedBits-1+32)
)

// scaledPixels scales a raster of bytes of 4 channels. It first scales rows, and then columns. wx and wy are the weights
// of the windows x and y in fixed point. `clamp` says whether sums of channels may be negative, or 256 and more. The
// memory of `rows` holds as many scaled rows as a window of y has, and the sums of a row of the result, which have two
// numbers for each pixel.
func scaledPixels(dst, src raster[uint8], x, y *windows, wx, wy []int32, clamp bool, rows []int64) {
	length := 2 * dst.width
	sums := rows[:length]
	rows = rows[length:]
	most := len(rows) / length
	begin, next := 0, 0
	for v, end := range y.end {
		weights := wy[begin:end]
		begin = end
		for ; next < y.first[v]+len(weights); next++ {
			scaledRow(rows[next%most*length:][:length], src.row(next), x, wx, clamp)
		}
		for i := range sums {
			sums[i] = half
		}
		for j, w := range weights {
			row, w := rows[(y.first[v]+j)%most*length:][:length], int64(w)
			for i, p := range row {
				sums[i] += p * w
			}
		}
		out := dst.row(v)
		for u := range dst.width {
			binary.LittleEndian.PutUint32(out[4*u:], pixelOf(channelsOf(sums[2*u], clamp), channelsOf(sums[2*u+1], clamp)))
		}
	}
}

// scaledRow stores a scaled row in dst.
func scaledRow(dst []int64, src []uint8, x *windows, weights []int32, clamp bool) {
	begin := 0
	for u, end := range x.end {
		var redBlue, greenAlpha int64 = half, half
		at := 4 * x.first[u]
		for _, w := range weights[begin:end] {
			p := uint64(binary.LittleEndian.Uint32(src[at:]))
			p |= p << 16
			redBlue += int64(p&lanes) * int64(w)
			greenAlpha += int64(p>>8&lanes) * int64(w)
			at += 4
		}
		begin = end
		dst[2*u], dst[2*u+1] = channelsOf(redBlue, clamp), channelsOf(greenAlpha, clamp)
	}
}

// channelsOf returns the integer parts of a pair of sums. With clamp, they are clamped to 0 … 255; otherwise each sum
// is at least 0 and below 256.
func channelsOf(sums int64, clamp bool) int64 {
	if !clamp {
		return sums >> fixedBits & lanes
	}
	low := int64(int32(sums))
	return clamped(low) | clamped((sums-low)>>32)<<32
}

func clamped(sum int64) int64 { return min(max(sum>>fixedBits, 0), 255) }

// pixelOf returns the pixel of two pairs of channels. Red is in the lowest byte.
func pixelOf(redBlue, greenAlpha int64) uint32 {
	p := uint64(redBlue | greenAlpha<<8)
	return uint32(p | p>>16)
}
