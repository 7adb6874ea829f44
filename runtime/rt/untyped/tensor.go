package untyped

import (
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// Tensor is the value of a [Port].
type Tensor struct {
	Port  *Port
	Shape []int
	// Data has the elements in native byte order, unless they are strings. The elements of bools are 0 or
	// 1. The memory is aligned for the elements, as [Alloc] does it.
	Data []byte
	// Texts has the elements that are strings.
	Texts []string
}

// Len returns the number of elements that t holds.
func (t *Tensor) Len() int {
	if t.Port.IsText() {
		return len(t.Texts)
	}
	return len(t.Data) / t.Port.Size
}

// Items returns the part of t with indices [from, to) along the first axis. It shares memory with
// t.
func (t *Tensor) Items(from, to int) Tensor {
	part := Tensor{Port: t.Port, Shape: slices.Clone(t.Shape)}
	n := t.Shape[0]
	part.Shape[0] = to - from
	if n == 0 {
		return part
	}
	if t.Port.IsText() {
		each := len(t.Texts) / n
		part.Texts = t.Texts[from*each : to*each]
	} else {
		each := len(t.Data) / n
		part.Data = t.Data[from*each : to*each]
	}
	return part
}

// Elements returns the product of a shape's extents. size is the size of an element in bytes, or 0 for
// strings. Elements returns an error if an extent is negative, or if the size of all elements overflows an
// int.
func Elements(shape []int, size int) (int, error) {
	n := max(1, size)
	empty := false
	for _, d := range shape {
		switch {
		case d < 0:
			return 0, fmt.Errorf("shape %v has a negative extent", shape)
		case d == 0:
			empty = true
		case n > math.MaxInt/d:
			return 0, fmt.Errorf("shape %v has more elements than fit memory", shape)
		default:
			n *= d
		}
	}
	if empty {
		return 0, nil
	}
	return n / max(1, size), nil
}

// Alloc returns n zeroed bytes that are aligned for elements of every type.
func Alloc(n int) []byte {
	if n == 0 {
		return nil
	}
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

// View returns data as elements of type T, in the same memory. data must be aligned for a T, as the
// memory that [Alloc] returns is.
func View[T any](data []byte) []T {
	if len(data) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), len(data)/int(unsafe.Sizeof(*new(T))))
}

// NormaliseBools replaces nonzero bytes by 1, because a Go bool is 0 or 1.
func NormaliseBools(data []byte) {
	for i, b := range data {
		if b > 1 {
			data[i] = 1
		}
	}
}
