package data

import (
	"math/bits"
	"math/rand/v2"
)

// golden is 2⁶⁴ divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

// mix is a bijection of 64 bits in which every bit of x changes about half of the bits: the
// finalizer of SplitMix64 (G. Steele, D. Lea and C. Flood, Fast splittable pseudorandom number
// generators, 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// keyOf returns a number that depends on both arguments.
func keyOf(a, b uint64) uint64 { return mix(mix(a+golden) ^ (b + golden)) }

// below returns a number from 0 to n-1. All are equally probable, to within n/2⁶⁴, if u is uniform.
func below(u uint64, n int) int {
	high, _ := bits.Mul64(u, uint64(n))
	return int(high)
}

// fractionOf returns a number from 0 to 1-2⁻⁵³ that is uniform if u is.
func fractionOf(u uint64) float64 { return float64(u>>11) / (1 << 53) }

// source gives every item random numbers of its own.
type source struct {
	pcg  rand.PCG
	rand *rand.Rand
}

func newSource() *source {
	s := new(source)
	s.rand = rand.New(&s.pcg)
	return s
}

// of returns the generator of an item in an epoch, whose key is keyOf(seed, epoch). The generator
// that the previous call returned is then invalid.
func (s *source) of(key uint64, item int) *rand.Rand {
	first := keyOf(key, uint64(item))
	s.pcg.Seed(first, mix(first+golden))
	return s.rand
}
