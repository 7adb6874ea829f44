package cpu

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// SplitToSlices sets *dst to the slices of x along an axis (ONNX SplitToSequence). shape is the
// shape of x. If `keep` is true, a slice keeps the axis, with extent 1. Otherwise the axis is
// removed. SplitToSlices returns an error if there are 1<<24 slices or more.
func SplitToSlices[T any](dst *[]rt.Tensor[T], x []T, shape []int, axis int, keep bool) error {
	if err := SplitToParts(dst, x, shape, axis, []int64{1}); err != nil || keep {
		return err
	}
	for i, t := range *dst {
		(*dst)[i].Shape = slices.Delete(t.Shape, axis, axis+1)
	}
	return nil
}

// SplitToParts splits x along an axis into parts of length[0], and sets *dst to the parts (ONNX
// SplitToSequence). The last part may be shorter. shape is the shape of x. SplitToParts returns an
// error if the length is below 1, or if there are 1<<24 parts of full length or more.
func SplitToParts[T any, I int32 | int64](dst *[]rt.Tensor[T], x []T, shape []int, axis int, length []I) error {
	const most = 1 << 24
	each, extent := int64(length[0]), shape[axis]
	if each <= 0 || int64(extent)/each >= most {
		return fmt.Errorf("parts of length %d of an extent of %d", each, extent)
	}
	seq := []rt.Tensor[T]{}
	for at := 0; at < extent; {
		n := int(min(each, int64(extent-at)))
		seq = append(seq, part(x, shape, axis, at, n))
		at += n
	}
	*dst = seq
	return nil
}

// SplitToSequence splits x along an axis into parts of the given lengths, and sets *dst to the
// parts (ONNX SplitToSequence). shape is the shape of x. SplitToSequence returns an error if a
// length is negative, or if the sum of the lengths is not the extent of the axis.
func SplitToSequence[T any, I int32 | int64](dst *[]rt.Tensor[T], x []T, shape []int, axis int, lengths []I) error {
	seq := make([]rt.Tensor[T], len(lengths))
	at, extent := 0, shape[axis]
	for i, length := range lengths {
		if length < 0 || int64(length) > int64(extent-at) {
			return fmt.Errorf("part %d of length %d of an extent of %d, at %d", i, length, extent, at)
		}
		seq[i] = part(x, shape, axis, at, int(length))
		at += int(length)
	}
	if at != extent {
		return fmt.Errorf("parts of %d of an extent of %d", at, extent)
	}
	*dst = seq
	return nil
}

// part returns a copy of n slices of x along an axis, from slice number `at` on.
func part[T any](x []T, shape []int, axis, at, n int) rt.Tensor[T] {
	width, inner := volume(shape[axis:]...), volume(shape[axis+1:]...)
	t := rt.Tensor[T]{Shape: slices.Clone(shape)}
	t.Shape[axis] = n
	t.Data = make([]T, volume(t.Shape...))
	if len(t.Data) == 0 {
		return t
	}
	x = trim(x, volume(shape...))
	for o := range len(x) / width {
		copy(t.Data[o*n*inner:][:n*inner], x[o*width+at*inner:])
	}
	return t
}
