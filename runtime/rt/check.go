package rt

import (
	"fmt"
	"unsafe"
)

// CheckTensor calls [Tensor.Check] on the argument called name. It returns the error of Check as
// "where: name: …".
func CheckTensor[T any](where, name string, t Tensor[T]) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("%s: %s: %w", where, name, err)
	}
	return nil
}

// CheckLen returns an error "where: name: …" if got differs from want. got is the number of
// elements of the argument called name.
func CheckLen(where, name string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: %s: %d elements expected, got %d", where, name, want, got)
	}
	return nil
}

// CheckDim returns an error "where: name: …" if got differs from want. got is an extent of the
// tensor called name. Generated code calls CheckDim where the compiler could not prove that two
// extents are equal.
func CheckDim(where, name string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: %s: extent %d expected, got %d", where, name, want, got)
	}
	return nil
}

// CheckBroadcast returns an error "where: name: …" unless got is 1 or equals want. got is an extent
// that is broadcast to want. Generated code calls CheckBroadcast where the compiler could not prove
// that one of these holds.
func CheckBroadcast(where, name string, got, want int) error {
	if got != 1 && got != want {
		return fmt.Errorf("%s: %s: extent 1 or %d expected, got %d", where, name, want, got)
	}
	return nil
}

// span is the range [lo, hi) of addresses that a slice or an array occupies.
type span struct{ lo, hi uintptr }

func spanOf[T any](x []T) span {
	var t T
	lo := address(unsafe.Pointer(unsafe.SliceData(x)))
	return span{lo, lo + uintptr(len(x))*unsafe.Sizeof(t)}
}

// escaped makes arguments of the function `address` escape to the heap: `address` stores its
// argument in at if `always` is true. `always` is never set, but the compiler does not know that.
var escaped struct {
	always bool
	at     unsafe.Pointer
}

// address returns the address of p. It makes the memory of p escape to the heap. Memory on a stack
// could move between the checks of two arguments.
func address(p unsafe.Pointer) uintptr {
	if escaped.always {
		escaped.at = p
	}
	return uintptr(p)
}

func (d span) overlaps(spans []span) bool {
	for _, s := range spans {
		if max(s.lo, d.lo) < min(s.hi, d.hi) {
			return true
		}
	}
	return false
}
