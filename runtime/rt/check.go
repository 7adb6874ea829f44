package rt

import (
	"fmt"
	"unsafe"
)

// CheckBatch checks a batch of n items, for which a caller gave room for dst
// results, against the max items a session holds.
func CheckBatch(where string, n, dst, max int) error {
	if n > max {
		return fmt.Errorf("%s: batch of %d: session holds %d at most", where, n, max)
	}
	if dst != n {
		return fmt.Errorf("%s: dst has room for %d: batch of %d", where, dst, n)
	}
	return nil
}

// CheckNil checks a pointer to what a caller passes.
func CheckNil[T any](where, what string, p *T) error {
	if p == nil {
		return fmt.Errorf("%s: %s is nil", where, what)
	}
	return nil
}

// CheckTensor is [Tensor.Check] of a tensor that a caller passes.
func CheckTensor[T any](where, what string, t Tensor[T]) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("%s: %s: %w", where, what, err)
	}
	return nil
}

// CheckLen checks the number of elements of what.
func CheckLen(where, what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: %s: %d elements expected, got %d", where, what, want, got)
	}
	return nil
}

// CheckDim checks an extent whose equality the compiler could not prove.
func CheckDim(where, what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: %s: extent %d expected, got %d", where, what, want, got)
	}
	return nil
}

// CheckBroadcast checks an extent that is repeated to another one, where the compiler
// could not prove that it is 1 or that one.
func CheckBroadcast(where, what string, got, want int) error {
	if got != 1 && got != want {
		return fmt.Errorf("%s: %s: extent 1 or %d expected, got %d", where, what, want, got)
	}
	return nil
}

// CheckOverlap returns an error if memory that results are written to, called
// what, is also memory of an argument.
func CheckOverlap[A, B any](where, what string, dst []A, src []B) error {
	if Overlap(dst, src) {
		return fmt.Errorf("%s: %s overlaps an input", where, what)
	}
	return nil
}

// Overlap reports whether a and b have a byte in common.
func Overlap[A, B any](a []A, b []B) bool {
	aLo, aHi := span(a)
	bLo, bHi := span(b)
	return aLo < bHi && bLo < aHi && aLo < aHi && bLo < bHi
}

func span[T any](x []T) (lo, hi uintptr) {
	var t T
	lo = uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	return lo, lo + uintptr(len(x))*unsafe.Sizeof(t)
}
