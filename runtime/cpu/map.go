package cpu

import (
	"maps"
	"slices"
)

// ZipMap makes *dst a map for every row of x, which is [rows, len(keys)], from each
// key to the row's element in its place (ONNX ZipMap). Of equal keys the last
// counts. Maps that *dst has are used again.
func ZipMap[K Key, V any](dst *[]map[K]V, x []V, keys []K, rows int) {
	x = trim(x, volume(rows, len(keys)))
	*dst = slices.Grow((*dst)[:0], rows)[:rows]
	for r := range *dst {
		m := (*dst)[r]
		if m == nil {
			m = make(map[K]V, len(keys))
			(*dst)[r] = m
		}
		clear(m)
		for i, v := range x[r*len(keys):][:len(keys)] {
			m[keys[i]] = v
		}
	}
}

// MapLen returns the number of a map's keys.
func MapLen[K Key, V any](m map[K]V) int { return len(m) }

// MapValues stores the values of a map that has len(dst) keys, in the order of these.
func MapValues[K Key, V any](dst []V, m map[K]V) {
	for i, k := range slices.Sorted(maps.Keys(m))[:len(dst)] {
		dst[i] = m[k]
	}
}

// MapLookup stores the value that a map has for each key, or other[0] where it has
// none.
func MapLookup[K Key, V any](dst []V, m map[K]V, keys []K, other []V) {
	keys = trim(keys, len(dst))
	for i, k := range keys {
		v, ok := m[k]
		if !ok {
			v = other[0]
		}
		dst[i] = v
	}
}
