package rt

import (
	"fmt"
	"unsafe"
)

// Passed is an argument or a result that the caller passes to a method. [Enter] and
// [Memory.Results] check it.
type Passed struct {
	name    string
	kind    passedKind
	result  bool
	missing bool // it is a nil pointer
	n       int  // the number of items, or of the tensor's elements
	shape   []int
	want    []int
	span    span
	err     error // why there is no room for a result
}

type passedKind uint8

const (
	whole  passedKind = iota // only that it is not a nil pointer
	items                    // that it has an item for each item of the batch
	shaped                   // the shape, and that the number of elements matches it
	loose                    // that the number of elements matches the shape
)

// In describes x, an argument that is a slice with an element for each item of the batch.
func In[A any](name string, x []A) Passed {
	return Passed{name: name, kind: items, n: len(x), span: spanOf(x)}
}

// InArray describes x, an argument that is a pointer to an array. A nil x is an error.
func InArray[A any](name string, x *A) Passed {
	return Passed{name: name, missing: x == nil, span: spanAt(x)}
}

// InTensor describes x, an argument that is a tensor. The shape of x is compared with want as
// [Symbols.CheckShape] does.
func InTensor[T any](name string, x Tensor[T], want ...int) Passed {
	return Passed{name: name, kind: shaped, n: len(x.Data), shape: x.Shape, want: want, span: spanOf(x.Data)}
}

// InAny describes x, an argument that is a tensor of any shape.
func InAny[T any](name string, x Tensor[T]) Passed {
	return Passed{name: name, kind: loose, n: len(x.Data), shape: x.Shape, span: spanOf(x.Data)}
}

// Out describes x, a result that is a slice with an element for each item of the batch.
func Out[A any](name string, x []A) Passed {
	return Passed{name: name, kind: items, result: true, n: len(x), span: spanOf(x)}
}

// OutArray describes x, a result that is a pointer to an array. A nil x is an error.
func OutArray[A any](name string, x *A) Passed {
	return Passed{name: name, result: true, missing: x == nil, span: spanAt(x)}
}

// OutGrown grows the slice *x to n elements, one for each item of the batch. It returns the slice
// as a result, to pass to [Memory.Results]. The call must have begun.
func OutGrown[A any](name string, x *[]A, n int) Passed {
	p := Passed{name: name, result: true}
	if err := Grow(x, n); err != nil {
		p.err = fmt.Errorf("room for a batch of %d: %w", n, err)
	}
	p.span = spanOf(*x)
	return p
}

// OutTensor resizes a tensor to a shape and returns it as a result for [Memory.Results]. The call
// must have begun.
func OutTensor[T any](name string, x *Tensor[T], shape ...int) Passed {
	err := x.resize(shape)
	return Passed{name: name, result: true, span: spanOf(x.Data), err: err}
}

// OutLate describes x, a result that is a tensor whose shape becomes known while the method runs.
func OutLate[T any](name string, x *Tensor[T]) Passed {
	return Passed{name: name, result: true, span: spanOf(x.Data)}
}

// OutStruct describes x, a result that is a pointer to a struct of results. A nil x is an error.
func OutStruct[A any](name string, x *A) Passed {
	return Passed{name: name, result: true, missing: x == nil}
}

func spanAt[A any](x *A) span {
	if x == nil {
		return span{}
	}
	lo := address(unsafe.Pointer(x))
	return span{lo, lo + unsafe.Sizeof(*x)}
}
