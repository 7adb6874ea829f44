package cpu

import (
	"errors"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// NoTensor sets *dst to nil (ONNX Optional).
func NoTensor[T any](dst **rt.Tensor[T]) { *dst = nil }

// NoSequence sets *dst to nil (ONNX Optional).
func NoSequence[T any](dst **[]rt.Tensor[T]) { *dst = nil }

// OptionalTensor sets *dst to a copy of x (ONNX Optional). shape is the shape of x.
func OptionalTensor[T any](dst **rt.Tensor[T], x []T, shape []int) {
	t := newItem(x, shape)
	*dst = &t
}

// OptionalSequence sets *dst to a copy of seq (ONNX Optional). The copy shares the tensors of seq.
func OptionalSequence[T any](dst **[]rt.Tensor[T], seq []rt.Tensor[T]) {
	seq = slices.Clone(seq)
	*dst = &seq
}

// HasTensor sets dst[0] to whether x is not nil (ONNX OptionalHasElement).
func HasTensor[T any](dst []bool, x *rt.Tensor[T]) { dst[0] = x != nil }

// HasSequence sets dst[0] to whether x is not nil (ONNX OptionalHasElement).
func HasSequence[T any](dst []bool, x *[]rt.Tensor[T]) { dst[0] = x != nil }

var errNone = errors.New("the optional has no element")

// OptionalExtent returns the extent of an axis of x. It returns an error if x is nil, or if the
// rank of x is not `rank`.
func OptionalExtent[T any](x *rt.Tensor[T], rank, axis int) (int, error) {
	if x == nil {
		return 0, errNone
	}
	return extentOf(x.Shape, rank, axis)
}

// GetTensor copies the elements of x to dst (ONNX OptionalGetElement). It returns an error if x is
// nil, or if the shape of x is not `shape`.
func GetTensor[T any](dst []T, x *rt.Tensor[T], shape []int) error {
	if x == nil {
		return errNone
	}
	return copyItem(dst, *x, shape)
}

// GetSequence sets *dst to a copy of the sequence *x (ONNX OptionalGetElement). The copy shares the
// tensors of *x. GetSequence returns an error if x is nil.
func GetSequence[T any](dst *[]rt.Tensor[T], x *[]rt.Tensor[T]) error {
	if x == nil {
		return errNone
	}
	*dst = slices.Clone(*x)
	return nil
}
