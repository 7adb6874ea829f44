package cpu

import "encoding/binary"

// ycbcrRef is [YCbCrToRGBA] in plain Go.
func ycbcrRef(dst, luma, cb, cr []uint8, shift int) {
	const most = 1<<24 - 1
	for from := 0; from < len(luma); from += 1 << shift {
		// What chroma adds to red, green and blue, with 16 fractional bits.
		b, r := int32(cb[from>>shift])-128, int32(cr[from>>shift])-128
		red, green, blue := 91881*r, -22554*b-46802*r, 116130*b
		for x := from; x < min(from+1<<shift, len(luma)); x++ {
			y := int32(luma[x]) * 0x10101
			r, g, b := y+red, y+green, y+blue
			if uint32(r|g|b) > most {
				r, g, b = min(max(r, 0), most), min(max(g, 0), most), min(max(b, 0), most)
			}
			binary.LittleEndian.PutUint32(dst[4*x:], uint32(r)>>16|uint32(g)>>8&0xff00|uint32(b)&0xff0000|0xff<<24)
		}
	}
}

// A pixelSum holds the sums of the four channels of a pixel: one number the sums of red and blue, the other the sums of
// green and alpha. Each number is one sum plus 2³² times the other. One multiplication by a weight thus adds to two sums.
type pixelSum struct{ redBlue, greenAlpha int64 }

const (
	pixelLanes = 0x000000ff000000ff
	// pixelHalf is ½ in both sums. Sums start with it, and their fractional bits are cut off at the end: this rounds
	// to the nearest integer.
	pixelHalf = 1<<(PixelWeightBits-1) | 1<<(PixelWeightBits-1+32)
)

// add adds a pixel, which begins at p[0], times a weight.
func (s *pixelSum) add(p []uint8, weight int64) {
	x := uint64(binary.LittleEndian.Uint32(p))
	x |= x << 16
	s.redBlue += int64(x&pixelLanes) * weight
	s.greenAlpha += int64(x>>8&pixelLanes) * weight
}

// store rounds and clamps the sums, and stores the pixel.
func (s *pixelSum) store(dst []uint8) {
	x := channelPair(s.redBlue) | channelPair(s.greenAlpha)<<8
	binary.LittleEndian.PutUint32(dst, uint32(x|x>>16))
}

// channelPair returns the integer parts of two sums, clamped to 0 … 255. A number whose sums need no clamping has zeros in
// the bits of `outside`.
func channelPair(sums int64) uint64 {
	const outside = 0xc0000000c0000000
	if uint64(sums)&outside == 0 {
		return uint64(sums) >> PixelWeightBits & pixelLanes
	}
	low := int64(int32(sums))
	return clampedChannel(low) | clampedChannel((sums-low)>>32)<<32
}

func clampedChannel(sum int64) uint64 { return uint64(min(max(sum>>PixelWeightBits, 0), 255)) }

// scalePixelsRef is [ScalePixels] in plain Go. Pixel i begins at pixel starts[i] of src and has the i-th weights, as many
// as taps.
func scalePixelsRef(dst, src []uint8, starts, weights []int32, taps int) {
	for i, start := range starts {
		sum, at := pixelSum{pixelHalf, pixelHalf}, 4*int(start)
		for _, w := range weights[i*taps:][:taps] {
			sum.add(src[at:], int64(w))
			at += 4
		}
		sum.store(dst[4*i:])
	}
}

// sumPixelRowsRef is [SumPixelRows] in plain Go, for the elements of dst from `from` on, and for a start in elements.
func sumPixelRowsRef(dst, rows []uint8, start int, weights []int32, from int) {
	for ; from < len(dst); from += 4 {
		sum, at := pixelSum{pixelHalf, pixelHalf}, start
		for _, w := range weights {
			sum.add(rows[at+from:], int64(w))
			if at += len(dst); at == len(rows) {
				at = 0
			}
		}
		sum.store(dst[from:])
	}
}
