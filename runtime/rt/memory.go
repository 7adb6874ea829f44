package rt

import (
	"fmt"
	"maps"
	"math"
	"unsafe"
)

// Make returns n zero elements that start at a 64-byte boundary. Generated code uses it for sizes
// that are known at generation.
func Make[T Number | bool](n int) []T {
	return View[T](alignedBytes(n*int(unsafe.Sizeof(*new(T)))), 0, n)
}

// Reinterpret returns the memory of x as elements of another type of the same size. It returns nil if
// the sizes differ.
func Reinterpret[T, S Number | bool](x []S) []T {
	if unsafe.Sizeof(*new(T)) != unsafe.Sizeof(*new(S)) {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// Resize sets t's shape to dims and the length of its data to match. It reuses t's memory if that
// suffices. The values are undefined. It returns an error if dims is not a valid shape, and the
// errors of [Grow]. The errors start with `where`.
func (t *Tensor[T]) Resize(where string, dims ...int) error {
	if err := t.resize(dims); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	return nil
}

func (t *Tensor[T]) resize(dims []int) error {
	n, err := Elems(dims)
	if err != nil {
		return err
	}
	if err := Grow(&t.Data, n); err != nil {
		return err
	}
	t.Shape = append(t.Shape[:0], dims...)
	return nil
}

// FloorDiv returns a / b rounded down, or 0 if b is 0.
func FloorDiv(a, b int) int {
	if b == 0 {
		return 0
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// Limit returns the largest extent that `symbol` may have. It returns math.MaxInt if m does not limit
// it.
func (m Max) Limit(symbol string) int {
	if n, ok := m[symbol]; ok {
		return n
	}
	return math.MaxInt
}

// Within returns, for each symbol, the smaller of its limits in m and in `limits`.
func (m Max) Within(limits Max) Max {
	out := Max{}
	maps.Copy(out, limits)
	for symbol, n := range m {
		out[symbol] = min(n, out.Limit(symbol))
	}
	return out
}
