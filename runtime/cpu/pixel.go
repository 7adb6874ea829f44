package cpu

// PixelWeightBits is the number of fractional bits of the weights of pixels.
const PixelWeightBits = 22

// YCbCrToRGBA converts a row of pixels from YCbCr to RGBA, with the same bits as image/draw. luma has an element for
// each pixel, and dst has 4 elements. cb and cr have an element for 2^shift pixels. Pixels are opaque.
func YCbCrToRGBA(dst, luma, cb, cr []uint8, shift int) {
	n := len(luma)
	if n == 0 {
		return
	}
	dst, cb, cr = trim(dst, 4*n), trim(cb, (n-1)>>shift+1), trim(cr, (n-1)>>shift+1)
	from := 0
	if shift < 2 && hasPixels() {
		for n-from >= 16 {
			part := min(n-from, atOnce) &^ shift
			ycbcrPart(shift == 1, &dst[4*from], &luma[from], &cb[from>>shift], &cr[from>>shift], part)
			from += part
		}
	}
	ycbcrRef(dst[4*from:], luma[from:], cb[from>>shift:], cr[from>>shift:], shift)
}

// PixelWindows describes how [ScalePixels] scales a row. Set sets it.
type PixelWindows struct {
	starts  []int32 // of each pixel of the result, the pixel of the first weight
	weights []int32 // taps for each pixel of the result
	taps    int
	width   int // of the row that is scaled
}

// Set describes rows of n pixels. Pixel i of a scaled row is a weighted sum of pixels, from first[i] on. Its weights are
// weights[end[i-1]:end[i]], where end[-1] stands for 0. They have [PixelWeightBits] fractional bits. Set keeps no slice.
// It uses the memory of w again. The sum of the absolute values of the weights of a pixel must be below 2. Set panics if
// a window is not inside the row, or if n exceeds 2³¹ - 1.
func (w *PixelWindows) Set(first, end []int, weights []int32, n int) {
	w.taps, w.width = 0, n
	begin := 0
	for i, e := range end {
		if taps := e - begin; taps < 0 || first[i] < 0 || first[i] > n-taps || n != int(int32(n)) {
			panic("cpu: a window outside of the row")
		}
		w.taps = max(w.taps, e-begin)
		begin = e
	}
	w.taps = min(n, (w.taps+1)&^1) // the assembly needs an even number
	w.starts, w.weights = extended(w.starts, len(end)), extended(w.weights, len(end)*w.taps)
	clear(w.weights)
	begin = 0
	for i, e := range end {
		// A window moves to the left where it would exceed the row. Its first weights are then 0.
		start := min(first[i], n-w.taps)
		w.starts[i] = int32(start)
		copy(w.weights[i*w.taps+first[i]-start:], weights[begin:e])
		begin = e
	}
}

// extended returns a slice of n arbitrary elements, in the memory of x if that suffices.
func extended(x []int32, n int) []int32 {
	if n > cap(x) {
		return make([]int32, n)
	}
	return x[:n]
}

// ScalePixels scales a row of pixels, which have 4 channels of 8 bits. Sums are rounded to the nearest integer, halves up,
// and clamped.
func ScalePixels(dst, src []uint8, w *PixelWindows) {
	dst, src = trim(dst, 4*len(w.starts)), trim(src, 4*w.width)
	from := 0
	if w.taps > 0 && w.taps%2 == 0 && w.taps <= atOnce && hasPixels() {
		most := max(1, atOnce/w.taps)
		for groups := len(w.starts) / 4; groups > 0; {
			part := min(groups, most)
			scalePixelsPart(&dst[4*from], part, &src[0], &w.starts[from], &w.weights[from*w.taps], w.taps)
			from, groups = from+4*part, groups-part
		}
	}
	scalePixelsRef(dst[4*from:], src, w.starts[from:], w.weights[from*w.taps:], w.taps)
}

// SumPixelRows sets dst to a weighted sum of rows of pixels: dst[i] is the sum over k of weights[k]·r[i], where r is row
// (start + k) modulo n of `rows`. A row has as many elements as dst, and n is the number of rows. Weights have
// [PixelWeightBits] fractional bits, and the sum of their absolute values must be below 2. Sums are rounded as those of
// [ScalePixels].
func SumPixelRows(dst, rows []uint8, start int, weights []int32) {
	if len(dst) == 0 || len(weights) == 0 {
		clear(dst)
		return
	}
	stride := len(dst)
	end := len(rows) / stride * stride
	rows, start = trim(rows, end), start*stride
	_ = rows[start]
	from := 0
	if len(weights) <= atOnce && hasPixels() {
		most := max(64, atOnce/len(weights)*16)
		for stride-from >= 64 {
			part := min(stride-from, most)
			sumPixelRowsPart(&dst[from], part, &rows[from], stride, start, end, &weights[0], len(weights))
			from += part
		}
	}
	sumPixelRowsRef(dst, rows, start, weights, from)
}
