package data

import (
	"fmt"
	"math/bits"
)

// Fold is one division of a data set for cross-validation.
type Fold[T any] struct{ Train, Valid Dataset[T] }

// Folds divides d into k consecutive parts, for cross-validation. The sizes of the parts differ by
// at most 1. Fold i validates on part i, and trains on the other parts in order. No items are
// copied. Folds returns an error if k is below 2 or exceeds d.Len().
func Folds[T any](d Dataset[T], k int) ([]Fold[T], error) {
	if err := Err(d); err != nil {
		return nil, fmt.Errorf("folds: %w", err)
	}
	n := d.Len()
	if k < 2 || k > n {
		return nil, fmt.Errorf("folds: %d folds of %d items: from 2 to the number of items expected", k, n)
	}
	folds := make([]Fold[T], k)
	for i := range folds {
		from, to := fraction(n, i, k), fraction(n, i+1, k)
		folds[i].Valid = Part(d, from, to)
		folds[i].Train = &view[T]{of: d, n: n - (to - from), index: func(i int) int {
			if i >= from {
				i += to - from
			}
			return i
		}}
	}
	return folds, nil
}

// fraction returns n·a/b, rounded down. The product may overflow an int. 0 ≤ a ≤ b, 0 < b and 0 ≤ n
// must hold.
func fraction(n, a, b int) int {
	high, low := bits.Mul64(uint64(n), uint64(a))
	q, _ := bits.Div64(high, low, uint64(b))
	return int(q)
}
