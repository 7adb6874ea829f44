package cpu

import (
	"errors"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// NoTensor makes *dst nil (ONNX Optional).
func NoTensor[T any](dst **rt.Tensor[T]) { *dst = nil }

// NoSequence makes *dst nil (ONNX Optional).
func NoSequence[T any](dst **[]rt.Tensor[T]) { *dst = nil }

// OptionalTensor makes *dst a copy of x, which has this shape (ONNX Optional).
func OptionalTensor[T any](dst **rt.Tensor[T], x []T, shape []int) {
	t := newItem(x, shape)
	*dst = &t
}

// OptionalSequence makes *dst seq (ONNX Optional).
func OptionalSequence[T any](dst **[]rt.Tensor[T], seq []rt.Tensor[T]) {
	seq = slices.Clone(seq)
	*dst = &seq
}

// HasTensor stores whether x is not nil (ONNX OptionalHasElement).
func HasTensor[T any](dst []bool, x *rt.Tensor[T]) { dst[0] = x != nil }

// HasSequence stores whether x is not nil (ONNX OptionalHasElement).
func HasSequence[T any](dst []bool, x *[]rt.Tensor[T]) { dst[0] = x != nil }

var errNone = errors.New("the optional has no element")

// OptionalExtent returns the extent of an axis of x. Where x is nil or has not
// this rank that is an error.
func OptionalExtent[T any](x *rt.Tensor[T], rank, axis int) (int, error) {
	if x == nil {
		return 0, errNone
	}
	return extentOf(x.Shape, rank, axis)
}

// GetTensor copies x, which has to have this shape and not to be nil (ONNX
// OptionalGetElement).
func GetTensor[T any](dst []T, x *rt.Tensor[T], shape []int) error {
	if x == nil {
		return errNone
	}
	return copyItem(dst, *x, shape)
}

// GetSequence makes *dst the sequence that x points to; it is an error when x is
// nil (ONNX OptionalGetElement).
func GetSequence[T any](dst *[]rt.Tensor[T], x *[]rt.Tensor[T]) error {
	if x == nil {
		return errNone
	}
	*dst = slices.Clone(*x)
	return nil
}
