package data

import "fmt"

// Kept returns a data set with the items of d for which `keep` returns true. It reads all items
// once, and stores an int for each item that it keeps. It returns an error if an item cannot be
// read.
func Kept[T any](d Dataset[T], keep func(T) bool) (Dataset[T], error) {
	if keep == nil {
		return nil, fmt.Errorf("kept: no function")
	}
	var indices []int
	i := 0
	for x, err := range All(d) {
		if err != nil {
			return nil, fmt.Errorf("kept: %w", err)
		}
		if keep(x) {
			indices = append(indices, i)
		}
		i++
	}
	return picked(d, indices), nil
}
