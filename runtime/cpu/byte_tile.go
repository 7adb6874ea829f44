package cpu

// What becomes of the sums of a tile of bytes.
const (
	sumsKind   = iota // they are the result, int32
	bytesKind         // they are requantised
	scaledKind        // they are scaled to float32
)

// byteColumns says what is done to the sums of two panels of columns.
type byteColumns struct {
	first       [16 * maxPanels]int32 // a sum begins with this
	zero        [16 * maxPanels]int32
	scale, less [16 * maxPanels]float32
}

// byteLimits are the rows and panels of the level's largest tile of bytes.
func byteLimits() (rows, panels int) {
	switch {
	case level == AVX512 && vnni:
		return 14, 2
	case level >= AVX2:
		return 4, 1
	}
	return 8, 1
}

// factor splits a scale into float32s whose sum it is, but for the last bits. Those
// beyond float32's range become the largest.
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
