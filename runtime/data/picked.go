package data

import (
	"fmt"
	"slices"
)

// Picked returns a data set with the items of d that have the given indices, in the order of
// indices. Indices may repeat. Picked keeps a copy of indices. The data set has an error if an
// index is out of range. An item has the error that it has in d.
func Picked[T any](d Dataset[T], indices []int) Dataset[T] {
	if err := Err(d); err != nil {
		return failed[T]{err}
	}
	for k, i := range indices {
		if err := checkIndex(i, d.Len()); err != nil {
			return failed[T]{fmt.Errorf("picked: position %d: %w", k, err)}
		}
	}
	return picked(d, slices.Clone(indices))
}

// picked is [Picked] without checking or copying the indices.
func picked[T any](d Dataset[T], indices []int) Dataset[T] {
	return &view[T]{of: d, n: len(indices), index: func(i int) int { return indices[i] }}
}
