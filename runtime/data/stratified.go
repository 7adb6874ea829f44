package data

import (
	"fmt"
	"slices"
)

// Stratified divides d into parts like [Parts]. It divides each class of items separately, so that
// all parts have about the same mix of classes. class returns the class of an item, such as its
// label. A part with share s gets s·n of the n items of a class, rounded up or down. The items of
// each part are in d's order.
//
// Stratified reads all items once and keeps an int for each item. It returns an error if an item
// cannot be read, if class is nil, or if the shares are not valid.
func Stratified[T any, C comparable](d Dataset[T], class func(T) C, shares ...float64) ([]Dataset[T], error) {
	if class == nil {
		return nil, fmt.Errorf("stratified: no function")
	}
	if _, err := cuts(0, shares); err != nil {
		return nil, fmt.Errorf("stratified: %w", err)
	}
	var order []C // classes in order of appearance
	members := map[C][]int{}
	i := 0
	for x, err := range All(d) {
		if err != nil {
			return nil, fmt.Errorf("stratified: %w", err)
		}
		c := class(x)
		if members[c] == nil {
			order = append(order, c)
		}
		members[c] = append(members[c], i)
		i++
	}
	indices := make([][]int, len(shares))
	for _, c := range order {
		list, from := members[c], 0
		ends, err := cuts(len(list), shares)
		if err != nil {
			return nil, fmt.Errorf("stratified: %w", err)
		}
		for k, end := range ends {
			indices[k] = append(indices[k], list[from:end]...)
			from = end
		}
	}
	parts := make([]Dataset[T], len(shares))
	for k, list := range indices {
		slices.Sort(list)
		parts[k] = picked(d, list)
	}
	return parts, nil
}
