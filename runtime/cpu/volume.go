package cpu

import (
	"math"
	"math/bits"
)

// volume returns the product of sizes. If a size is negative or the product exceeds the length of
// any slice, the result is so large that slicing to it, or to the sum of three such results,
// panics.
func volume(sizes ...int) int {
	const most = math.MaxInt / 3
	v := uint(1)
	for _, n := range sizes {
		high, low := bits.Mul(v, uint(n))
		if n < 0 || high != 0 || low > most {
			return most
		}
		v = low
	}
	return int(v)
}
