package cpu

import (
	"cmp"
	"fmt"
	"slices"
)

// Lookup stores, for every element of x, the value beside it in a table whose keys
// are sorted: values[i] where x is keys[i], other where it is no key. NaN is equal
// to NaN, and stands before all numbers. It fails on an element that is no key
// where other is nil, and dst is then partly written.
func Lookup[K string | int16 | int32 | int64 | float32 | float64, V any](dst []V, x, keys []K, values, other []V) error {
	x, values = trim(x, len(dst)), trim(values, len(keys))
	for i, k := range x {
		at, found := slices.BinarySearchFunc(keys, k, cmp.Compare[K])
		switch {
		case found:
			dst[i] = values[at]
		case len(other) > 0:
			dst[i] = other[0]
		default:
			return fmt.Errorf("lookup: element %d is %v, which is no key", i, k)
		}
	}
	return nil
}
