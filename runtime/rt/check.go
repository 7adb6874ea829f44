package rt

import (
	"fmt"
	"unsafe"
)

// CheckTensor calls [Tensor.Check] on an argument. what is its name in errors.
func CheckTensor[T any](where, what string, t Tensor[T]) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("%s: %s: %w", where, what, err)
	}
	return nil
}

// CheckLen returns an error unless an argument has want elements; got is their number. Errors call
// the argument what.
func CheckLen(where, what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: %s: %d elements expected, got %d", where, what, want, got)
	}
	return nil
}

// CheckDim returns an error unless an extent is want; got is the extent. Errors call the tensor
// what. Generated code calls CheckDim where the compiler could not prove that two extents are
// equal.
func CheckDim(where, what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: %s: extent %d expected, got %d", where, what, want, got)
	}
	return nil
}

// CheckBroadcast returns an error unless got, an extent that is broadcast to want, is 1 or want.
// Generated code calls it where the compiler could not prove this.
func CheckBroadcast(where, what string, got, want int) error {
	if got != 1 && got != want {
		return fmt.Errorf("%s: %s: extent 1 or %d expected, got %d", where, what, want, got)
	}
	return nil
}

// span is the memory of a slice: the addresses of its first byte and of the byte after its last.
type span struct{ lo, hi uintptr }

// spanOf returns the memory of x.
func spanOf[T any](x []T) span {
	var t T
	lo := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	return span{lo, lo + uintptr(len(x))*unsafe.Sizeof(t)}
}

// overlaps reports whether d has a byte in common with one of spans.
func (d span) overlaps(spans []span) bool {
	for _, s := range spans {
		if max(s.lo, d.lo) < min(s.hi, d.hi) {
			return true
		}
	}
	return false
}
