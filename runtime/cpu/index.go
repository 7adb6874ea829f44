package cpu

import "strconv"

// IndexError is an index outside an axis.
type IndexError struct {
	Index int64
	Dim   int // extent of the axis
	// What and Things name the index and the indexed things: "label" and "classes". They may be empty.
	What, Things string
}

// Error returns a message with the index and the extent.
func (e *IndexError) Error() string {
	if e.What != "" {
		return e.What + " " + strconv.FormatInt(e.Index, 10) + " is not one of " + strconv.Itoa(e.Dim) + " " + e.Things
	}
	return "cpu: index " + strconv.FormatInt(e.Index, 10) + " of an axis of " + strconv.Itoa(e.Dim)
}

// CheckIndex copies indices that are from 0 to `count`−1. If fromEnd is true, it also accepts
// indices from −`count` to −1, which count from the end, and adds `count` to them. For other
// indices it returns an [IndexError]; dst is then partly written. `what` and `things` become the
// fields What and Things of the error. dst may be src.
func CheckIndex[I int32 | int64](dst, src []I, count int, fromEnd bool, what, things string) error {
	src = trim(src, len(dst))
	for i, k := range src {
		if fromEnd && k < 0 && int64(k) >= -int64(count) {
			k += I(count)
		}
		if int64(k) < 0 || int64(k) >= int64(count) {
			return &IndexError{Index: int64(k), Dim: count, What: what, Things: things}
		}
		dst[i] = k
	}
	return nil
}

// fromFront converts k, an index of an axis of extent dim, to an index that counts from the start. A negative k
// counts from the end. ok is false if k is out of range.
func fromFront[I int32 | int64](k I, dim int) (at int, ok bool) {
	n := int64(k)
	if n < 0 {
		n += int64(dim)
	}
	return int(n), n >= 0 && n < int64(dim)
}

// tuple returns the row-major index of the slice at these coordinates. It returns an [IndexError]
// for a coordinate out of range.
func tuple[I int32 | int64](coordinates []I, extents []int) (int, error) {
	slice := 0
	for i, k := range coordinates {
		at, ok := fromFront(k, extents[i])
		if !ok {
			return 0, &IndexError{Index: int64(k), Dim: extents[i]}
		}
		slice = slice*extents[i] + at
	}
	return slice, nil
}

// elements describes indices along one axis of an array, and which elements of the array they refer
// to.
type elements struct {
	shape, array []int // extents of the indices and of the array; shape may exceed array only along the axis
	axis         int
	n, size      int // elements of the indices and of the array
	width        int // elements of the indices in a line along their last axis
	dim, stride  int // of the axis
	step         int // distance in the array between adjacent elements of a line whose indices are equal
}

// elementsOf returns the description for indices of the given shape. It returns an [IndexError] if
// an extent of shape is too large for the array.
func elementsOf(shape, array []int, axis int) (elements, error) {
	last := len(shape) - 1
	e := elements{
		shape: shape, array: array, axis: axis,
		n: volume(shape...), size: volume(array...),
		width: shape[last], dim: array[axis], stride: volume(array[axis+1:]...),
	}
	if axis != last {
		e.step = 1
	}
	for i, d := range shape {
		if i != axis && d > array[i] && e.n > 0 {
			return e, &IndexError{Index: int64(d) - 1, Dim: array[i]}
		}
	}
	return e, nil
}

// line is called for a line of indices along their last axis. i is the position of the line's first
// index among all indices. If the value of this index is 0, it refers to an element of the array;
// line returns the position of this element.
func (e *elements) line(i int) int {
	row, at, stride := i/e.width, 0, 1
	for k := len(e.shape) - 2; k >= 0; k-- {
		stride *= e.array[k+1]
		if k != e.axis {
			at += row % e.shape[k] * stride
		}
		row /= e.shape[k]
	}
	return at
}
