package main

// uniform returns number i, counted from 0, of the pseudo-random sequence that `seed` selects. The number is
// uniform in [low, high) before it is rounded to float32. It is the Murmur3 finaliser of a counter. Programs in
// other languages can repeat the sequence exactly.
func uniform(i, seed uint32, low, high float64) float32 {
	x := i + seed*0x9e3779b9
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= x >> 13
	x *= 0xc2b2ae35
	x ^= x >> 16
	u := float64(x>>8) / (1 << 24)
	return float32(low + float64((high-low)*u))
}
