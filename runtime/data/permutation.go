package data

import "math/bits"

// Permutation is a random order of the numbers from 0 to n-1. It computes the number at any
// position directly, without a table. The order depends only on n, the seed and the epoch. It is
// the same on every machine and in every version of this package; docs/data.md defines it.
//
// The permutation is a Feistel network (M. Luby and C. Rackoff, How to construct pseudorandom
// permutations, 1988). It has six rounds and permutes numbers of 2·half bits, where half is at
// least 4. If a result is not below n, the network is applied to it again, until it is below n (J.
// Black and P. Rogaway, Ciphers with arbitrary finite domains, 2002).
type Permutation struct {
	n    int
	half uint // bits in each half
	keys [rounds]uint64
}

const (
	rounds    = 6
	leastHalf = 4 // with fewer bits, six rounds make some neighbours more frequent than others
)

// NewPermutation returns a random order of the numbers from 0 to n-1. A negative n counts as 0.
func NewPermutation(n int, seed, epoch uint64) Permutation {
	p := Permutation{n: max(0, n), half: leastHalf}
	if n > 1 {
		p.half = max(leastHalf, uint(bits.Len64(uint64(n-1))+1)/2)
	}
	key := keyOf(seed, epoch)
	for r := range p.keys {
		p.keys[r] = mix(key + uint64(r+1)*golden)
	}
	return p
}

// Len returns how many numbers are permuted.
func (p *Permutation) Len() int { return p.n }

// At returns the number at position i. It returns -1 unless i is from 0 to Len()-1.
func (p *Permutation) At(i int) int {
	if i < 0 || i >= p.n {
		return -1
	}
	for x := uint64(i); ; {
		left, right := p.halves(x)
		for _, key := range p.keys {
			left, right = right, left^p.round(right, key)
		}
		if x = left<<p.half | right; x < uint64(p.n) {
			return int(x)
		}
	}
}

// Position returns the position of the number x. It is the inverse of At. It returns -1 unless x is
// from 0 to Len()-1.
func (p *Permutation) Position(x int) int {
	if x < 0 || x >= p.n {
		return -1
	}
	for y := uint64(x); ; {
		left, right := p.halves(y)
		for r := rounds - 1; r >= 0; r-- {
			left, right = right^p.round(left, p.keys[r]), left
		}
		if y = left<<p.half | right; y < uint64(p.n) {
			return int(y)
		}
	}
}

// halves splits a number of 2·p.half bits in two.
func (p *Permutation) halves(x uint64) (left, right uint64) {
	return x >> p.half, x & (1<<p.half - 1)
}

// round is the round function of the Feistel network. It returns p.half pseudorandom bits, which
// depend on x and key.
func (p *Permutation) round(x, key uint64) uint64 { return mix(x^key) >> (64 - p.half) }
