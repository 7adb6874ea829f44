package cpu

import (
	"fmt"
	"math/bits"
)

// Extent returns element i of src, a small integer tensor that holds a shape. It returns an error
// if the element is negative or does not fit an int.
func Extent[T Integer](src []T, i int) (int, error) {
	n := int(src[i])
	if n < 0 || T(n) != src[i] {
		return 0, fmt.Errorf("extent: element %d is %d", i, src[i])
	}
	return n, nil
}

// CountNonZero returns the number of elements that are not zero, false or an empty string.
func CountNonZero[T Number | bool | string](src []T) int {
	n := 0
	if b, ok := any(src).([]bool); ok {
		o := octets(b)
		for i := 0; i < len(o); i += 8 {
			n += bits.OnesCount64(get(o[i:]))
		}
		src = src[len(o):]
	}
	var zero T
	for _, v := range src {
		n += pick(v != zero, 1, 0)
	}
	return n
}

// NonZero finds the nonzero elements of src, in row-major order (ONNX NonZero). dst is a matrix with
// a row for each axis of `shape` and a column for each nonzero element; a column has the coordinates
// of the element. dst has len(shape) times [CountNonZero] elements.
func NonZero[T Number | bool | string](dst []int64, src []T, shape []int) {
	if len(shape) == 0 || len(dst) == 0 {
		return
	}
	last := len(shape) - 1
	columns, width, k := len(dst)/len(shape), shape[last], 0
	flags, isBool := any(src).([]bool)
	for row := range volume(shape[:last]...) {
		first := k
		if isBool {
			k = trueOf(dst[last*columns:], flags[row*width:][:width], k)
		} else {
			k = nonZeroOf(dst[last*columns:], src[row*width:][:width], k)
		}
		for at, axis := row, last-1; axis >= 0; axis-- {
			Fill(dst[axis*columns:][first:k], int64(at%shape[axis]))
			at /= shape[axis]
		}
	}
}

// nonZeroOf writes the indices of the nonzero elements of `row` to dst[k:], and stops when dst is
// full. It returns the index in dst after the last one written.
func nonZeroOf[T comparable](dst []int64, row []T, k int) int {
	var zero T
	for i, v := range row {
		if k == len(dst) {
			break
		}
		dst[k] = int64(i) // kept if v is nonzero
		k += pick(v != zero, 1, 0)
	}
	return k
}

// trueOf is [nonZeroOf] for booleans: it writes the indices of the true elements. Instead of stopping
// when dst is full, it panics if dst is too short.
func trueOf(dst []int64, row []bool, k int) int {
	o := octets(row)
	for i := 0; i < len(o); i += 8 {
		for left := get(o[i:]); left != 0; left &= left - 1 {
			dst[k] = int64(i + bits.TrailingZeros64(left)/8)
			k++
		}
	}
	for i, v := range row[len(o):] {
		if v {
			dst[k] = int64(len(o) + i)
			k++
		}
	}
	return k
}
