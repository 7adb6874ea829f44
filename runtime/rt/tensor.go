package rt

import (
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// Tensor is a dense array in row-major order. A nil Shape is a scalar, of one
// element.
type Tensor[T any] struct {
	Data  []T
	Shape []int
}

// Check returns an error if Data does not have as many elements as Shape says.
func (t Tensor[T]) Check() error {
	n, err := Elems(t.Shape)
	if err != nil {
		return err
	}
	if n != len(t.Data) {
		return fmt.Errorf("tensor: shape %v has %d elements: data has %d", t.Shape, n, len(t.Data))
	}
	return nil
}

// Elems returns the product of the extents of shape. Errors: a negative extent,
// and a product of the extents other than 0 that does not fit an int, in an
// empty tensor too, so that no stride overflows either. It does not allocate,
// nor make a shape escape that is written out at the call.
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

// Flat returns the elements of x, whose type A is an array, or array of arrays,
// of T: a [][3][224][224]float32 as a []float32 on the same memory.
func Flat[T, A any](x []A) []T {
	n := arrayLen[T, A]()
	if len(x) == 0 || n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*n)
}

// FlatOf is [Flat] of one array. It is nil if x is.
func FlatOf[T, A any](x *A) []T {
	n := arrayLen[T, A]()
	if x == nil || n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(x)), n)
}

// arrayLen returns how many T an A is made of, 0 if it is not made of T.
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

// Append adds a row to t along its first axis and returns it, to be filled in; t has
// a first axis. Errors: a row that is not of the shape of those before it, and sizes
// over [ArenaLimit].
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
