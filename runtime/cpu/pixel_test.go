package cpu

import (
	"image/color"
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/runtime/kerneltest"
)

// pixelBytes returns n random bytes between guards. Many of them are 0 or 255.
func pixelBytes(r *rand.Rand, n int) *kerneltest.Slice[uint8] {
	s := kerneltest.NewSlice[uint8](n, r.IntN(64))
	for i := range s.Data {
		s.Data[i] = uint8(r.IntN(256))
		if r.IntN(3) == 0 {
			s.Data[i] = uint8(r.IntN(2) * 255)
		}
	}
	s.Freeze()
	return s
}

func checkPixels(t *testing.T, slices ...*kerneltest.Slice[uint8]) {
	t.Helper()
	for _, s := range slices {
		s.Check(t, "pixels")
	}
}

// TestYCbCrToRGBA compares rows with color.YCbCrToRGB.
func TestYCbCrToRGBA(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	atLevels(t, func(t *testing.T) {
		for n := range 70 {
			for shift := range 3 {
				chroma := (n + 1<<shift - 1) >> shift
				luma, cb, cr := pixelBytes(r, n), pixelBytes(r, chroma), pixelBytes(r, chroma)
				dst := kerneltest.NewSlice[uint8](4*n, r.IntN(64))
				YCbCrToRGBA(dst.Data, luma.Data, cb.Data, cr.Data, shift)
				checkPixels(t, dst, luma, cb, cr)
				for x := range n {
					red, green, blue := color.YCbCrToRGB(luma.Data[x], cb.Data[x>>shift], cr.Data[x>>shift])
					if got := [4]uint8(dst.Data[4*x:]); got != [4]uint8{red, green, blue, 255} {
						t.Fatalf("pixel %d of %d with shift %d is %v, want %d %d %d", x, n, shift, got, red, green, blue)
					}
				}
			}
		}
	})
}

// TestYCbCrToRGBAOfAllColours compares each colour whose chroma is a multiple of 3 with color.YCbCrToRGB.
func TestYCbCrToRGBAOfAllColours(t *testing.T) {
	luma, cb, cr, dst := make([]uint8, 256), make([]uint8, 256), make([]uint8, 256), make([]uint8, 1024)
	for i := range luma {
		luma[i] = uint8(i)
	}
	atLevels(t, func(t *testing.T) {
		for b := 0; b < 256; b += 3 {
			for c := 0; c < 256; c += 3 {
				for i := range luma {
					cb[i], cr[i] = uint8(b), uint8(c)
				}
				for shift := range 2 {
					YCbCrToRGBA(dst, luma, cb, cr, shift)
					for y := range luma {
						red, green, blue := color.YCbCrToRGB(uint8(y), uint8(b), uint8(c))
						if got := [4]uint8(dst[4*y:]); got != [4]uint8{red, green, blue, 255} {
							t.Fatalf("%d %d %d with shift %d is %v, want %d %d %d", y, b, c, shift, got, red, green, blue)
						}
					}
				}
			}
		}
	})
}

// pixelWeights returns n weights whose absolute values sum to at most 1.99. Some are negative.
func pixelWeights(r *rand.Rand, n int) []int32 {
	w := make([]int32, n)
	for i := range w {
		w[i] = int32(r.Float64() * 1.99 / float64(n) * (1 << PixelWeightBits))
		if r.IntN(3) == 0 {
			w[i] = -w[i]
		}
	}
	return w
}

// roundedPixel returns a sum, which begins at 0, as a channel.
func roundedPixel(sum int64) uint8 {
	return uint8(min(max((sum+1<<(PixelWeightBits-1))>>PixelWeightBits, 0), 255))
}

// TestScalePixels compares scaled rows with sums for each channel. Windows are in any order, and some are empty.
func TestScalePixels(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	atLevels(t, func(t *testing.T) {
		var w PixelWindows
		for range 500 {
			n, m := 1+r.IntN(40), r.IntN(40)
			most := 1 + r.IntN(min(n, 11))
			first, end := make([]int, m), make([]int, m)
			var weights []int32
			for i := range first {
				taps := r.IntN(most + 1)
				first[i] = r.IntN(n - taps + 1)
				weights = append(weights, pixelWeights(r, taps)...)
				end[i] = len(weights)
			}
			w.Set(first, end, weights, n)
			src, dst := pixelBytes(r, 4*n), kerneltest.NewSlice[uint8](4*m, r.IntN(64))
			ScalePixels(dst.Data, src.Data, &w)
			checkPixels(t, src, dst)
			begin := 0
			for i, e := range end {
				for c := range 4 {
					sum := int64(0)
					for k, weight := range weights[begin:e] {
						sum += int64(weight) * int64(src.Data[4*(first[i]+k)+c])
					}
					if got, want := dst.Data[4*i+c], roundedPixel(sum); got != want {
						t.Fatalf("channel %d of pixel %d of %d, of %d pixels with %d taps, is %d, want %d", c, i, m, n, e-begin, got, want)
					}
				}
				begin = e
			}
		}
	})
}

// TestSumPixelRows compares sums of rows with sums for each channel.
func TestSumPixelRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	atLevels(t, func(t *testing.T) {
		for range 500 {
			width, rows := 1+r.IntN(70), 1+r.IntN(9)
			start, weights := r.IntN(rows), pixelWeights(r, r.IntN(2*rows))
			src, dst := pixelBytes(r, 4*width*rows), kerneltest.NewSlice[uint8](4*width, r.IntN(64))
			SumPixelRows(dst.Data, src.Data, start, weights)
			checkPixels(t, src, dst)
			for i, got := range dst.Data {
				sum := int64(0)
				for k, w := range weights {
					sum += int64(w) * int64(src.Data[(start+k)%rows*4*width+i])
				}
				if want := roundedPixel(sum); got != want {
					t.Fatalf("byte %d of %d, of %d rows from %d with %d weights, is %d, want %d", i, 4*width, rows, start, len(weights), got, want)
				}
			}
		}
	})
}

// TestPixelsOfLongRows asserts that a row that needs several calls of the assembly has the same bits at all levels.
func TestPixelsOfLongRows(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	const n, taps = 2*atOnce + 37, 6
	luma, rows := pixelBytes(r, n).Data, pixelBytes(r, 3*4*n).Data
	first, end, weights := make([]int, n), make([]int, n), make([]int32, n*taps)
	for i := range n {
		first[i], end[i] = r.IntN(n-taps), (i+1)*taps
	}
	for i := range n {
		copy(weights[i*taps:], pixelWeights(r, taps))
	}
	var w PixelWindows
	w.Set(first, end, weights, n)
	var want [4][]uint8
	atLevels(t, func(t *testing.T) {
		var got [4][]uint8
		for i := range got {
			got[i] = make([]uint8, 4*n)
		}
		YCbCrToRGBA(got[0], luma, rows[:n], rows[n:], 0)
		YCbCrToRGBA(got[1], luma, rows[:n], rows[n:], 1)
		ScalePixels(got[2], rows, &w)
		SumPixelRows(got[3], rows, 2, weights[:5])
		for i := range got {
			if want[i] == nil {
				want[i] = got[i]
			}
			if string(got[i]) != string(want[i]) {
				t.Errorf("result %d differs", i)
			}
		}
	})
}
