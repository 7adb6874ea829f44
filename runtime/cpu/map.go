package cpu

import (
	"maps"
	"slices"
)

// ZipMap sets *dst to one map for each row of x, [rows, len(keys)] (ONNX ZipMap). Element j of the
// row is the value of keys[j]. If keys are equal, the last one counts. ZipMap reuses the maps in
// *dst.
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

// MapLen returns the number of keys of a map.
func MapLen[K Key, V any](m map[K]V) int { return len(m) }

// MapValues stores the values of m in dst, in ascending order of their keys. m must have len(dst)
// keys.
func MapValues[K Key, V any](dst []V, m map[K]V) {
	for i, k := range slices.Sorted(maps.Keys(m))[:len(dst)] {
		dst[i] = m[k]
	}
}

// MapLookup sets dst[i] to the value of keys[i] in m. If m does not have this key, it sets dst[i]
// to other[0].
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
