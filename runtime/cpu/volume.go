package cpu

import (
	"math"
	"math/bits"
)

// volume returns the product of sizes. If a size is negative or the product is above MaxInt/3, it
// returns MaxInt/3. No slice is that long, so slicing to this length panics. The sum of three such
// results does not overflow.
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
