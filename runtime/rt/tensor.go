package rt

import (
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// Tensor is a dense array in row-major order. A nil Shape is a scalar with one element.
type Tensor[T any] struct {
	Data  []T
	Shape []int
}

// Check returns an error if Shape is not valid, see [Elems], or if Data does not have as many
// elements as Shape says.
func (t Tensor[T]) Check() error { return checkData(t.Shape, len(t.Data)) }

// checkData returns an error unless a tensor of this shape has `data` elements.
func checkData(shape []int, data int) error {
	n, err := Elems(shape)
	if err != nil {
		return err
	}
	if n != data {
		return fmt.Errorf("tensor: shape %v has %d elements: data has %d", slices.Clone(shape), n, data)
	}
	return nil
}

// Elems returns the product of the extents of shape. It returns an error if an extent is negative,
// or if the product of the nonzero extents overflows an int. This product is checked even if an
// extent is 0, so that strides cannot overflow. Elems allocates memory only for an error, and
// `shape` does not escape to the heap.
func Elems(shape []int) (int, error) {
	n, empty := 1, false
	for _, d := range shape {
		switch {
		case d < 0:
			return 0, fmt.Errorf("tensor: shape %v has a negative extent", slices.Clone(shape))
		case d == 0:
			empty = true
		case n > math.MaxInt/d:
			return 0, fmt.Errorf("tensor: shape %v has more elements than fit an int", slices.Clone(shape))
		default:
			n *= d
		}
	}
	if empty {
		return 0, nil
	}
	return n, nil
}

// Flat returns the elements of x as a slice of T in the same memory. A is an array of T, or an
// array of arrays of T, and so on: a [][3][224][224]float32 becomes a []float32. Flat returns nil
// if x is empty, if an A has no elements, or if the size or the alignment of A is not a multiple
// of T's.
func Flat[T, A any](x []A) []T {
	n := arrayLen[T, A]()
	if len(x) == 0 || n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*n)
}

// FlatOf is [Flat] for one array. It also returns nil if x is nil.
func FlatOf[T, A any](x *A) []T {
	n := arrayLen[T, A]()
	if x == nil || n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(x)), n)
}

// arrayLen returns the number of elements of type T in an array of type A, or 0 if the size or the
// alignment of A is not a multiple of T's.
func arrayLen[T, A any]() int {
	var (
		t *T
		a *A // pointers, because an A may be larger than a stack
	)
	if unsafe.Sizeof(*t) == 0 || unsafe.Sizeof(*a)%unsafe.Sizeof(*t) != 0 || unsafe.Alignof(*a)%unsafe.Alignof(*t) != 0 {
		return 0
	}
	return int(unsafe.Sizeof(*a) / unsafe.Sizeof(*t))
}

// Append adds a row along t's first axis and returns its elements for the caller to fill. `row` is
// the shape of the row, the extents of t after the first. If t does not have rows yet, the row
// decides these extents. Append returns an error if `row` is not a valid shape or differs from the
// shape of t's rows, and the errors of [Extend].
func (t *Tensor[T]) Append(where string, row ...int) ([]T, error) {
	n, err := Elems(row)
	if err != nil {
		return nil, err
	}
	switch {
	case len(t.Shape) != len(row)+1:
		return nil, fmt.Errorf("%s: row %v for shape %v", where, slices.Clone(row), t.Shape)
	case t.Shape[0] == 0:
		copy(t.Shape[1:], row)
	case !slices.Equal(row, t.Shape[1:]):
		return nil, fmt.Errorf("%s: row %v after rows %v", where, slices.Clone(row), t.Shape[1:])
	}
	at := len(t.Data)
	if n > math.MaxInt-at {
		return nil, fmt.Errorf("%s: %d rows %v are too many", where, t.Shape[0]+1, slices.Clone(row))
	}
	if err := Extend(&t.Data, n); err != nil {
		return nil, fmt.Errorf("%s: %d rows %v: %w", where, t.Shape[0]+1, slices.Clone(row), err)
	}
	t.Shape[0]++
	return t.Data[at:], nil
}
