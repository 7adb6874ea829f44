package cpu

import "github.com/burngen/burngen/runtime/rt"

// pointwise is a kernel on slices of one length while the workers of the pool share it:
// do is its work on a range of the elements.
type pointwise struct {
	dst, a, b, c []float32
	u, v         float32
	do           func(s *pointwise, from, to int)
}

var pointwises slot[pointwise, *pointwise]

// Part does the elements of part i. Parts begin at multiples of 64 elements, so that no two
// write one cache line of any type.
func (s *pointwise) Part(i, parts int) {
	from, to := portion((len(s.dst)+63)/64, i, parts)
	s.do(s, 64*from, min(64*to, len(s.dst)))
}

// sharedFrom is the least number of elements that it can be worth to share.
const sharedFrom = 1 << 14

// pointwiseParts is how many parts n elements are worth, of which 64 take some ns.
func pointwiseParts(n, ns int) int { return rt.Parts(int64(n) * int64(ns) / 64) }
