package cpu

import "golang.org/x/sys/cpu"

// vnni reports whether the processor has the AVX-512 instructions for sums of products of bytes.
var vnni = cpu.X86.HasAVX512VNNI

// Kinds of results of a tile of bytes.
const (
	sumsKind   = iota // the sums, as int32
	bytesKind         // requantised bytes
	scaledKind        // the sums scaled to float32
)

// byteColumns holds the factors and offsets with which sums become results, for the columns of two
// panels; see byteTileRef.
type byteColumns struct {
	first       [16 * maxPanels]int32   // a sum begins with this
	zero        [16 * maxPanels]int32   // zero point, subtracted from a sum once for each unit of the row's sum
	scale, less [16 * maxPanels]float32 // factor and offset of a sum, or for bytes the two parts of its factor
}

// byteLimits returns the numbers of rows and panels of the largest tile of byte products at
// [CurrentLevel].
func byteLimits() (rows, panels int) {
	switch {
	case level == AVX512 && vnni:
		return 14, 2
	case level >= AVX2:
		return 4, 1
	}
	return 8, 1
}

// factor splits a nonnegative scale into two float32s. Their sum equals the scale to about 48 bits.
// A finite scale beyond the range of float32 becomes the largest float32.
func factor(scale float64) (high, low float32) {
	const most = 0x1p127 * (2 - 0x1p-23)
	if scale > most && scale*0.5 != scale {
		return most, 0
	}
	high = float32(scale)
	if low = float32(scale - float64(high)); low != low {
		low = 0
	}
	return high, low
}
