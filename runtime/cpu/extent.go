package cpu

import "fmt"

// Extent returns element i of a small integer tensor that holds a shape. It fails
// when that is negative or does not fit.
func Extent[T Integer](src []T, i int) (int, error) {
	n := int(src[i])
	if n < 0 || T(n) != src[i] {
		return 0, fmt.Errorf("extent: element %d is %d", i, src[i])
	}
	return n, nil
}

// CountNonZero returns the number of elements that are not zero, or are true, or
// strings that are not empty.
func CountNonZero[T Number | bool | string](src []T) int {
	var zero T
	n := 0
	for _, v := range src {
		if v != zero {
			n++
		}
	}
	return n
}

// NonZero writes the places of the elements that are not zero, in row-major
// order, as a matrix with a row for each axis of shape (ONNX NonZero). dst has
// len(shape) times [CountNonZero] elements.
func NonZero[T Number | bool | string](dst []int64, src []T, shape []int) {
	if len(shape) == 0 {
		return
	}
	var zero T
	columns, k := len(dst)/len(shape), 0
	for at, v := range src {
		if v == zero {
			continue
		}
		for axis := len(shape) - 1; axis >= 0; axis-- {
			dst[axis*columns+k] = int64(at % shape[axis])
			at /= shape[axis]
		}
		k++
	}
}
