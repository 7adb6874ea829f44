package data

import (
	"math/bits"
	"math/rand/v2"
)

// golden is 2⁶⁴ divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

// mix is a bijection: it never maps two 64-bit numbers to the same number. If one bit of x
// changes, about half of the bits of the result change. mix is the finalizer of SplitMix64 (G.
// Steele, D. Lea and C. Flood, Fast splittable pseudorandom number generators, 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// keyOf returns a hash of a and b.
func keyOf(a, b uint64) uint64 { return mix(mix(a+golden) ^ (b + golden)) }

// below maps u, 64 uniform random bits, to a number from 0 to n-1. The probabilities of two
// numbers differ by less than 2⁻⁶³.
func below(u uint64, n int) int {
	high, _ := bits.Mul64(u, uint64(n))
	return int(high)
}

// fractionOf maps u, 64 uniform random bits, to a multiple of 2⁻⁵³ in [0, 1).
func fractionOf(u uint64) float64 { return float64(u>>11) / (1 << 53) }

// source generates independent random numbers for each item.
type source struct {
	pcg  rand.PCG
	rand *rand.Rand
}

func newSource() *source {
	s := new(source)
	s.rand = rand.New(&s.pcg)
	return s
}

// of returns the generator for an item. key is keyOf(seed, epoch). The generator of the previous
// call becomes invalid.
func (s *source) of(key uint64, item int) *rand.Rand {
	first := keyOf(key, uint64(item))
	s.pcg.Seed(first, mix(first+golden))
	return s.rand
}
