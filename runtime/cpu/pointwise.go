package cpu

import "github.com/burngen/burngen/runtime/rt"

// pointwise describes a call of a kernel on slices of equal length, which workers divide among them.
// do processes a range of elements.
type pointwise struct {
	dst, a, b, c []float32 // result and operands
	u, v         float32   // scalars
	do           func(s *pointwise, from, to int)
}

var pointwises slot[pointwise, *pointwise]

// Part implements [rt.Task]. It computes part i of `parts` of the elements. Parts start at
// multiples of 64 elements, so that two parts do not write the same cache line.
func (s *pointwise) Part(i, parts int) {
	from, to := portion((len(s.dst)+63)/64, i, parts)
	s.do(s, 64*from, min(64*to, len(s.dst)))
}

// sharedFrom is a number of elements. Work on fewer elements is not worth dividing among workers.
const sharedFrom = 1 << 14

// pointwiseParts returns the number of parts into which to divide n elements. 64 elements take ns
// nanoseconds.
func pointwiseParts(n, ns int) int { return rt.Parts(int64(n) * int64(ns) / 64) }
