package cpu

import (
	"errors"
	"fmt"
	"math"
)

// The functions of this file return numbers computed from small integer lists: extents, positions,
// marks. One call returns one of several numbers, selected by i or the axis.

// axisSet returns the listed axes as a set of bits: bit i is set if axis i is listed. The rank is
// at most 64. A negative axis counts from the end. axisSet returns an error if an axis is out of
// range or repeated.
func axisSet(axes []int64, rank int) (set uint64, err error) {
	for _, a := range axes {
		at, ok := fromFront(a, rank)
		if !ok {
			return 0, fmt.Errorf("axis %d out of range for rank %d", a, rank)
		}
		if set>>at&1 != 0 {
			return 0, fmt.Errorf("axis %d is named twice", at)
		}
		set |= 1 << at
	}
	return set, nil
}

// MarkedExtent returns an extent for the reduction of a tensor along axes. shape is the shape of
// the tensor. i selects the extent:
//
//   - 2·axis: the extent that remains. It is 1 if axes contains the axis, else shape[axis].
//   - 2·axis + 1: the extent that is reduced. It is shape[axis] if axes contains the axis, else 1.
//
// If `all` is true, empty axes mean all axes. MarkedExtent returns an error if an axis is out of
// range or repeated.
func MarkedExtent(axes []int64, shape []int, all bool, i int) (int, error) {
	set, err := axisSet(axes, len(shape))
	if all && len(axes) == 0 {
		set = math.MaxUint64
	}
	if named := set>>(i/2)&1 != 0; named != (i%2 == 1) {
		return 1, err
	}
	return shape[i/2], err
}

// SqueezedExtent returns extent i of shape after the listed axes are removed. It returns an error
// unless each listed axis has extent 1 and `rank` axes remain.
func SqueezedExtent(axes []int64, shape []int, rank, i int) (int, error) {
	set, err := axisSet(axes, len(shape))
	if err != nil {
		return 0, err
	}
	if len(shape)-len(axes) != rank {
		return 0, fmt.Errorf("rank %d without %d axes is not %d", len(shape), len(axes), rank)
	}
	result := 0
	for axis, d := range shape {
		switch named := set>>axis&1 != 0; {
		case named && d != 1:
			return 0, fmt.Errorf("axis %d has extent %d, not 1", axis, d)
		case named:
		case i == 0:
			result, i = d, -1
		default:
			i--
		}
	}
	return result, nil
}

// UnsqueezedExtent returns extent i of the result when axes of extent 1 are inserted into shape.
// axes lists the positions of these axes in the result. UnsqueezedExtent returns an error if a
// position is out of range or repeated, or if the rank of the result is not `rank`.
func UnsqueezedExtent(axes []int64, shape []int, rank, i int) (int, error) {
	set, err := axisSet(axes, rank)
	if err != nil {
		return 0, err
	}
	if len(shape)+len(axes) != rank {
		return 0, fmt.Errorf("rank %d with %d axes is not %d", len(shape), len(axes), rank)
	}
	if set>>i&1 != 0 {
		return 1, nil
	}
	at := i
	for axis := range i {
		at -= int(set >> axis & 1)
	}
	return shape[at], nil
}

// ReshapedExtent returns extent i of the result of a reshape to `want` (ONNX Reshape). shape is the
// shape of the operand. Unless allowZero is set, want[k] = 0 stands for shape[k]. One element of
// want may be −1; it is then inferred. ReshapedExtent returns an error if the length of `want` is
// not `rank`, or if the numbers of elements differ.
func ReshapedExtent(want []int64, shape []int, allowZero bool, rank, i int) (int, error) {
	if len(want) != rank {
		return 0, fmt.Errorf("%d extents, %d expected", len(want), rank)
	}
	total, ok := int64(volume(shape...)), true
	open, others, result := -1, int64(1), int64(0)
	for k, d := range want {
		switch {
		case d == -1 && open < 0:
			open = k
			continue
		case d < 0:
			return 0, fmt.Errorf("element %d of the shape is %d", k, d)
		case d == 0 && !allowZero && k < len(shape):
			d = int64(shape[k])
		case d == 0 && !allowZero:
			return 0, fmt.Errorf("element %d of the shape is 0, the operand has rank %d", k, len(shape))
		}
		if k == i {
			result = d
		}
		if d != 0 && others > math.MaxInt64/d {
			ok = false
			continue
		}
		others *= d
	}
	switch {
	case !ok, open < 0 && others != total, open >= 0 && (others == 0 || total%others != 0):
		return 0, fmt.Errorf("%d elements do not have the shape that is asked for", total)
	case open == i:
		result = total / others
	}
	return int(result), nil
}

// SlicePlace returns one of the numbers that describe a slice of a tensor (ONNX Slice). shape is
// the shape of the tensor. i selects the number:
//
//   - 4·axis: the index of the first element
//   - 4·axis + 1: the number of elements
//   - 4·axis + 2: the step, at most the extent, or 0 if the step is negative
//   - 4·axis + 3: the negated step, or 0 if the step is positive
//
// Without axes, starts[0] applies to axis 0, starts[1] to axis 1, and so on. Without steps, each
// step is 1. SlicePlace returns an error if the lists differ in length, if an axis is out of range
// or repeated, or if a step is 0.
func SlicePlace(starts, ends, axes, steps []int64, shape []int, i int) (int, error) {
	if len(ends) != len(starts) || axes != nil && len(axes) != len(starts) || steps != nil && len(steps) != len(starts) || axes == nil && len(starts) > len(shape) {
		return 0, fmt.Errorf("%d starts, %d ends, %d axes, %d steps", len(starts), len(ends), len(axes), len(steps))
	}
	if _, err := axisSet(axes, len(shape)); err != nil {
		return 0, err
	}
	axis, what := i/4, i%4
	place := [4]int{0, shape[axis], 1, 0}
	for k := range starts {
		at := k
		if axes != nil {
			at, _ = fromFront(axes[k], len(shape))
		}
		if at != axis {
			continue
		}
		step, d := int64(1), int64(shape[axis])
		if steps != nil {
			step = min(max(steps[k], -max(d, 1)), max(d, 1))
		}
		if step == 0 {
			return 0, errors.New("a step is 0")
		}
		first, count := sliceRange(starts[k], ends[k], step, d)
		place = [4]int{int(first), int(count), int(max(step, 0)), int(max(-step, 0))}
	}
	return place[what], nil
}

// sliceRange describes a slice of an axis of extent d. It returns the index of the first element
// and the number of elements. A negative bound counts from the end, and both bounds are clamped.
// `step` is not 0.
func sliceRange(start, end, step, d int64) (first, count int64) {
	if start < 0 {
		start = max(start, -d) + d
	}
	if end < 0 {
		end = max(end+d, -1)
	}
	if step > 0 {
		first = min(start, d)
		return first, max(0, (min(end, d)-first+step-1)/step)
	}
	first = min(start, d-1)
	return max(first, 0), max(0, (first-min(end, d-1)-step-1)/-step)
}

// PadPlace returns one of the numbers that describe the padding of a tensor (ONNX Pad). shape is
// the shape of the tensor. pads lists the number of elements before each listed axis, and then the
// number after each listed axis. A negative number crops. Nil axes mean all axes. i selects the
// number that is returned:
//
//   - 4·axis: the index of the first element that is kept
//   - 4·axis + 1: the number of elements that are kept
//   - 4·axis + 2: the number of elements inserted before them
//   - 4·axis + 3: the resulting extent
//
// PadPlace returns an error if pads does not have two elements for each axis, if an axis is out of
// range or repeated, or if more elements are cropped than there are.
func PadPlace(pads, axes []int64, shape []int, i int) (int, error) {
	n := len(pads) / 2
	if len(pads)%2 != 0 || n != len(axes) && (len(axes) > 0 || n != len(shape)) {
		return 0, fmt.Errorf("%d pads for rank %d and %d axes", len(pads), len(shape), len(axes))
	}
	if _, err := axisSet(axes, len(shape)); err != nil {
		return 0, err
	}
	axis, d := i/4, int64(shape[i/4])
	place := [4]int64{0, d, 0, d}
	for k := range n {
		at := k
		if len(axes) > 0 {
			at, _ = fromFront(axes[k], len(shape))
		}
		if at != axis {
			continue
		}
		before, after := pads[k], pads[n+k]
		if before < -d || after < -d || max(before, after) > math.MaxInt32 || max(0, -before)+max(0, -after) > d {
			return 0, fmt.Errorf("pads %d and %d of an axis of %d", before, after, d)
		}
		place = [4]int64{max(-before, 0), d + min(before, 0) + min(after, 0), max(before, 0), d + before + after}
	}
	if v := place[i%4]; int64(int(v)) == v {
		return int(v), nil
	}
	return 0, fmt.Errorf("%d elements", place[i%4])
}

// RangeCount returns the number of elements of the range start, start + delta, …, which ends before
// `limit`: max(0, ⌈(limit − start)/delta⌉) (ONNX Range). The difference is computed in type T, and
// the quotient of floats in float64. RangeCount returns an error if delta is 0, or if the number is
// NaN or exceeds 2³¹−1.
func RangeCount[T Number](start, limit, delta T) (int, error) {
	if delta == 0 {
		return 0, errors.New("range: delta is 0")
	}
	if isFloat[T]() {
		return floatCount(math.Ceil(float64(limit-start) / float64(delta)))
	}
	if (limit > start) != (delta > 0) || limit == start {
		return 0, nil
	}
	distance, step := uint64(limit)-uint64(start), uint64(delta)
	if delta < 0 {
		distance, step = -distance, -step
	}
	n := (distance-1)/step + 1
	if n > math.MaxInt32 {
		return 0, fmt.Errorf("range: %d elements", n)
	}
	return int(n), nil
}

// floatCount converts a float to a number of elements; a negative float gives 0. It returns an
// error for NaN and for numbers above 2³¹−1.
func floatCount(n float64) (int, error) {
	if !(n <= math.MaxInt32) {
		return 0, fmt.Errorf("range: %g elements", n)
	}
	return max(0, int(max(n, 0))), nil
}

// PadIndex lists the elements that fill an axis when it is padded: element i of the padded axis is
// a copy of element dst[i]. The axis had n elements; `before` is the number of elements inserted in
// front of them. Mode "edge" repeats the nearest element, "wrap" continues from the other end, and
// "reflect" mirrors at the first and last element. PadIndex returns an error if n is 0 and dst is
// not empty.
func PadIndex(dst []int64, n, before int, mode string) error {
	if n == 0 && len(dst) > 0 {
		return errors.New("pad: mode " + mode + " of no elements")
	}
	for i := range dst {
		at := i - before
		switch {
		case mode == "edge":
			at = min(max(at, 0), n-1)
		case mode == "wrap":
			at = (at%n + n) % n
		case n == 1:
			at = 0
		default:
			period := 2 * (n - 1)
			at = (at%period + period) % period
			at = min(at, period-at)
		}
		dst[i] = int64(at)
	}
	return nil
}
