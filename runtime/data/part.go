package data

import (
	"fmt"
	"math"
)

// Part returns a data set with items from ≤ i < to of d. If 0 ≤ from ≤ to ≤ d.Len() does not hold,
// the data set has an error; see [Err]. An item has the error that it has in d.
func Part[T any](d Dataset[T], from, to int) Dataset[T] {
	if err := Err(d); err != nil {
		return failed[T]{err}
	}
	if from < 0 || to < from || to > d.Len() {
		return failf[T]("part: items %d to %d: there are %d items", from, to, d.Len())
	}
	v := &view[T]{of: d, n: to - from, index: func(i int) int { return from + i }}
	if block := blockOf(d); from%block == 0 {
		v.block = block
	}
	return v
}

// Parts divides d into consecutive parts with the given shares of its items, such as 0.8 and 0.2.
// The ends of the parts are rounded to whole items. If the shares sum to 1, each item is in one
// part. If they sum to less, the last items are left out. All parts have an error if a share is
// negative or not a number, or if the sum exceeds 1.
//
// To divide at random, shuffle first: Parts([Shuffled](d, seed), 0.8, 0.2).
func Parts[T any](d Dataset[T], shares ...float64) []Dataset[T] {
	parts := make([]Dataset[T], len(shares))
	err := Err(d)
	var ends []int
	if err == nil {
		ends, err = cuts(d.Len(), shares)
	}
	from := 0
	for k := range parts {
		if err != nil {
			parts[k] = failed[T]{fmt.Errorf("parts: %w", err)}
			continue
		}
		parts[k] = Part(d, from, ends[k])
		from = ends[k]
	}
	return parts
}

// cuts divides n items into parts with the given shares. It returns the exclusive end of each part.
// It returns an error if a share is negative or NaN, or if the sum of the shares exceeds 1.
func cuts(n int, shares []float64) ([]int, error) {
	ends := make([]int, len(shares))
	sum := 0.
	for k, s := range shares {
		sum += s
		if !(s >= 0) || sum > 1+1e-9 {
			return nil, fmt.Errorf("shares %v: from 0 to 1 expected, with a sum of at most 1", shares)
		}
		ends[k] = n
		if sum < 1-1e-9 {
			ends[k] = min(n, int(math.Round(sum*float64(n))))
		}
	}
	return ends, nil
}
