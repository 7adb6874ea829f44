package cpu

import (
	"cmp"
	"fmt"
	"slices"
)

// Lookup replaces each element of x by a value of a table: keys[i] by values[i], and an unknown key
// by other[0]. keys is sorted. NaN equals NaN and precedes all numbers. If `other` is empty, Lookup
// returns an error for an unknown key; dst is then partly written.
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
			return fmt.Errorf("lookup: element %d is %v, which is not a key", i, k)
		}
	}
	return nil
}
