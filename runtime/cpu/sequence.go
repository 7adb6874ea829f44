package cpu

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// Kernels that create a sequence set *dst to a new one, whose tensors may be shared with the source
// sequences. No kernel modifies the tensors of a sequence. Negative positions count from the end. A position out of
// range is an [IndexError]. Kernels that add a tensor return an error if the tensors of the sequence exceed
// [rt.ArenaLimit].

// SequenceEmpty sets *dst to an empty sequence (ONNX SequenceEmpty).
func SequenceEmpty[T any](dst *[]rt.Tensor[T]) { *dst = []rt.Tensor[T]{} }

// SequenceAppend sets *dst to seq with a copy of x added at the end (ONNX SequenceInsert). shape is
// the shape of x. It returns an error if the sequence becomes too large.
func SequenceAppend[T any](dst *[]rt.Tensor[T], seq []rt.Tensor[T], x []T, shape []int) error {
	if err := checkRoom(seq, shape); err != nil {
		return err
	}
	*dst = slices.Concat(seq, []rt.Tensor[T]{newItem(x, shape)})
	return nil
}

// checkRoom returns an error if seq would become too large with one more tensor of the given shape.
func checkRoom[T any](seq []rt.Tensor[T], shape []int) error {
	n := volume(shape...)
	for _, t := range seq {
		n += len(t.Data)
	}
	if err := rt.CheckSize[T](n); err != nil {
		return fmt.Errorf("a sequence of %d: %w", len(seq)+1, err)
	}
	return nil
}

// SequenceInsert sets *dst to seq with a copy of x inserted (ONNX SequenceInsert). The copy comes
// before the element at position[0], or at the end if position[0] is len(seq). shape is the shape
// of x. SequenceInsert returns an [IndexError] for a position out of range, and an error if the
// sequence becomes too large.
func SequenceInsert[T any, I int32 | int64](dst *[]rt.Tensor[T], seq []rt.Tensor[T], x []T, shape []int, position []I) error {
	at := len(seq)
	if int64(position[0]) != int64(len(seq)) {
		var ok bool
		if at, ok = fromFront(position[0], len(seq)); !ok {
			return &IndexError{Index: int64(position[0]), Dim: len(seq)}
		}
	}
	if err := checkRoom(seq, shape); err != nil {
		return err
	}
	*dst = slices.Concat(seq[:at], []rt.Tensor[T]{newItem(x, shape)}, seq[at:])
	return nil
}

func newItem[T any](x []T, shape []int) rt.Tensor[T] {
	return rt.Tensor[T]{Data: slices.Clone(trim(x, volume(shape...))), Shape: slices.Clone(shape)}
}

// SequenceErase sets *dst to seq without the element at position[0] (ONNX SequenceErase). It
// returns an [IndexError] for a position out of range.
func SequenceErase[T any, I int32 | int64](dst *[]rt.Tensor[T], seq []rt.Tensor[T], position []I) error {
	at, ok := fromFront(position[0], len(seq))
	if !ok {
		return &IndexError{Index: int64(position[0]), Dim: len(seq)}
	}
	*dst = slices.Concat(seq[:at], seq[at+1:])
	return nil
}

// SequenceLength sets dst[0] to the number of elements of seq (ONNX SequenceLength).
func SequenceLength[T any](dst []int64, seq []rt.Tensor[T]) { dst[0] = int64(len(seq)) }

func itemAt[T any, I int32 | int64](seq []rt.Tensor[T], position []I) (rt.Tensor[T], error) {
	at, ok := fromFront(position[0], len(seq))
	if !ok {
		return rt.Tensor[T]{}, &IndexError{Index: int64(position[0]), Dim: len(seq)}
	}
	return seq[at], nil
}

// SequenceExtent returns the extent of an axis of the sequence's element at position[0]. It returns
// an error if the position is out of range, or if the rank of the element is not `rank`.
func SequenceExtent[T any, I int32 | int64](seq []rt.Tensor[T], position []I, rank, axis int) (int, error) {
	t, err := itemAt(seq, position)
	if err != nil {
		return 0, err
	}
	return extentOf(t.Shape, rank, axis)
}

// extentOf returns shape[axis]. It returns an error if the length of shape is not `rank`.
func extentOf(shape []int, rank, axis int) (int, error) {
	if len(shape) != rank {
		return 0, fmt.Errorf("shape %v: rank %d expected", slices.Clone(shape), rank)
	}
	return shape[axis], nil
}

// SequenceAt copies the sequence's element at position[0] to dst (ONNX SequenceAt). It returns an
// error if the position is out of range, or if the shape of the element is not `shape`.
func SequenceAt[T any, I int32 | int64](dst []T, seq []rt.Tensor[T], position []I, shape []int) error {
	t, err := itemAt(seq, position)
	if err != nil {
		return err
	}
	return copyItem(dst, t, shape)
}

func copyItem[T any](dst []T, t rt.Tensor[T], shape []int) error {
	if !slices.Equal(t.Shape, shape) {
		return fmt.Errorf("shape %v: %v expected", slices.Clone(t.Shape), slices.Clone(shape))
	}
	n := volume(shape...)
	copy(trim(dst, n), trim(t.Data, n))
	return nil
}

// ConcatExtent returns the extent of axis i of the result of [ConcatFromSequence]. rank is the rank
// of the result. ConcatExtent returns an error if the sequence is empty, or if the rank of its
// first element does not fit.
func ConcatExtent[T any](seq []rt.Tensor[T], axis int, newAxis bool, rank, i int) (int, error) {
	if len(seq) == 0 {
		return 0, errNoItems
	}
	switch {
	case newAxis && i == axis:
		return len(seq), nil
	case newAxis && i > axis:
		return extentOf(seq[0].Shape, rank-1, i-1)
	case newAxis:
		return extentOf(seq[0].Shape, rank-1, i)
	case i != axis:
		return extentOf(seq[0].Shape, rank, i)
	}
	sum := 0
	for _, t := range seq {
		n, err := extentOf(t.Shape, rank, axis)
		if err != nil {
			return 0, err
		}
		if sum > math.MaxInt-n {
			return 0, fmt.Errorf("axis %d is too long", axis)
		}
		sum += n
	}
	return sum, nil
}

var errNoItems = errors.New("the sequence has no elements")

// ConcatFromSequence concatenates the elements of seq along an axis (ONNX ConcatFromSequence). If
// newAxis is true, it stacks them along a new axis. `shape` is the shape of the result.
// ConcatFromSequence returns an error if the sequence is empty, or if an element does not fit.
func ConcatFromSequence[T any](dst []T, seq []rt.Tensor[T], shape []int, axis int, newAxis bool) error {
	if len(seq) == 0 {
		return errNoItems
	}
	dst = trim(dst, volume(shape...))
	after := axis + 1
	if newAxis {
		after = axis
	}
	width, inner := volume(shape[axis:]...), volume(shape[axis+1:]...)
	at := 0
	for _, t := range seq {
		s := t.Shape
		if len(s) != len(shape)-1+after-axis || !slices.Equal(s[:axis], shape[:axis]) || !slices.Equal(s[after:], shape[axis+1:]) {
			return fmt.Errorf("shape %v of an element of %v", slices.Clone(s), slices.Clone(shape))
		}
		run := inner
		if !newAxis {
			run = volume(s[axis], inner)
		}
		if run > width-at {
			return fmt.Errorf("the elements are more than %d along axis %d", shape[axis], axis)
		}
		if run > 0 {
			for o := range len(dst) / width {
				copy(dst[o*width+at:][:run], t.Data[o*run:][:run])
			}
		}
		at += run
	}
	if at != width {
		return fmt.Errorf("the elements are less than %d along axis %d", shape[axis], axis)
	}
	return nil
}
