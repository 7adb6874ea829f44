package rt

import (
	"math"
	"math/bits"
)

// Philox returns 128 pseudo-random bits for seed and counter i. It is Philox-4x32 with ten rounds
// and with seed as the key (Salmon and others, Parallel random numbers: as easy as 1, 2, 3, 2011).
// Calls do not share state, so the result does not depend on their order or on the number of
// goroutines.
func Philox(seed, i uint64) (a, b uint64) {
	x := [4]uint32{uint32(i), uint32(i >> 32)}
	k0, k1 := uint32(seed), uint32(seed>>32)
	for range 10 {
		hi0, lo0 := bits.Mul32(0xd2511f53, x[0])
		hi1, lo1 := bits.Mul32(0xcd9e8d57, x[2])
		x = [4]uint32{hi1 ^ x[1] ^ k0, lo1, hi0 ^ x[3] ^ k1, lo0}
		k0, k1 = k0+0x9e3779b9, k1+0xbb67ae85
	}
	return uint64(x[1])<<32 | uint64(x[0]), uint64(x[3])<<32 | uint64(x[2])
}

// Keyed derives a seed from `seed` and keys. Equal seeds and keys give equal results; other seeds
// or keys give unrelated results. Without keys it returns seed.
func Keyed(seed int64, keys []int64) int64 {
	for _, k := range keys {
		a, _ := Philox(uint64(seed), uint64(k))
		seed = int64(a)
	}
	return seed
}

// UniformAt returns the i-th uniform random number of a seed, in [0, 1). It is a multiple of 2⁻⁵³.
func UniformAt(seed, i uint64) float64 {
	a, _ := Philox(seed, i)
	return fraction(a)
}

func fraction(a uint64) float64 { return float64(a>>11) / (1 << 53) }

// NormalAt returns the i-th standard normal number of seed, the same on every machine. It uses the
// transform of Box and Muller (A note on the generation of random normal deviates, 1958).
func NormalAt(seed, i uint64) float64 {
	a, b := Philox(seed, i)
	radius := math.Sqrt(-2 * logOf(1-fraction(a)))
	return float64(radius * cosTurn(fraction(b)))
}

// logOf returns the natural logarithm of x, for 0 < x ≤ 1. It writes x as m·2ⁿ and computes n·log 2
// + 2·atanh((m−1)/(m+1)), with a series for atanh. Conversions to float64 keep the compiler from
// fusing operations, so that all machines agree.
func logOf(x float64) float64 {
	m, n := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, n = 2*m, n-1
	}
	s := (m - 1) / (m + 1)
	z, p := float64(s*s), 0.0
	for k := 23; k > 0; k -= 2 {
		p = float64(p*z) + 1/float64(k)
	}
	return float64(float64(n)*math.Ln2) + float64(2*s*p)
}

// cosTurn returns cos(2πt), for 0 ≤ t < 1. The result has the same bits on all machines. cosTurn
// first reduces the angle exactly to at most an eighth of a turn.
func cosTurn(t float64) float64 {
	t = math.Abs(t - 0.5) // subtracting half a turn changes the sign
	sign := -1.0
	if t > 0.25 {
		t, sign = 0.5-t, 1
	}
	if t > 0.125 {
		return sign * series(2*math.Pi*(0.25-t), 1)
	}
	return sign * series(2*math.Pi*t, 0)
}

// series returns cos(x) if odd is 0, or sin(x) if odd is 1, for |x| ≤ π/4.
func series(x float64, odd int) float64 {
	z, p := float64(x*x), 1.0
	for k := 18 + odd; k > 1; k -= 2 {
		p = 1 - float64(z*p)/float64(k*(k-1))
	}
	if odd == 1 {
		return float64(x * p)
	}
	return p
}
