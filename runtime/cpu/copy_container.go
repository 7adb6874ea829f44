package cpu

import (
	"maps"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// CopySequence sets *dst to a sequence with copies of src's tensors. The copies do not share memory
// with src.
func CopySequence[T any](dst *[]rt.Tensor[T], src []rt.Tensor[T]) {
	seq := make([]rt.Tensor[T], len(src))
	for i, t := range src {
		seq[i] = rt.Tensor[T]{Data: slices.Clone(t.Data), Shape: slices.Clone(t.Shape)}
	}
	*dst = seq
}

// CopyOptional sets *dst to nil or a copy of src.
func CopyOptional[T any](dst **rt.Tensor[T], src *rt.Tensor[T]) {
	if src == nil {
		*dst = nil
		return
	}
	*dst = &rt.Tensor[T]{Data: slices.Clone(src.Data), Shape: slices.Clone(src.Shape)}
}

// CopyOptionalSequence sets *dst to nil or a copy of src.
func CopyOptionalSequence[T any](dst **[]rt.Tensor[T], src *[]rt.Tensor[T]) {
	if src == nil {
		*dst = nil
		return
	}
	var seq []rt.Tensor[T]
	CopySequence(&seq, *src)
	*dst = &seq
}

// Key is the constraint of the keys of maps.
type Key interface{ int64 | string }

// CopyMap sets *dst to a copy of src.
func CopyMap[K Key, V any](dst *map[K]V, src map[K]V) { *dst = maps.Clone(src) }

// CopyMaps sets *dst to a sequence of copies of src's maps.
func CopyMaps[K Key, V any](dst *[]map[K]V, src []map[K]V) {
	*dst = slices.Clone(src)
	for i, m := range src {
		(*dst)[i] = maps.Clone(m)
	}
}
