package rt

import (
	"cmp"
	"fmt"
	"slices"
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

// Span is the memory of a slice: the address of its first byte, and of the one after its
// last.
type Span struct{ lo, hi uintptr }

// SpanOf returns the memory of x.
func SpanOf[T any](x []T) Span {
	var t T
	lo := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	return Span{lo, lo + uintptr(len(x))*unsafe.Sizeof(t)}
}

// CheckOverlap returns an error if memory in dst, which results are written to and which is
// called what, is also memory of an argument. It reorders args.
func CheckOverlap(where, what string, dst, args []Span) error {
	args = union(args)
	for _, d := range dst {
		i, _ := slices.BinarySearchFunc(args, d.lo, func(a Span, at uintptr) int { return cmp.Compare(a.hi, at+1) })
		if i < len(args) && args[i].lo < d.hi && d.lo < d.hi {
			return fmt.Errorf("%s: %s overlaps an input", where, what)
		}
	}
	return nil
}

// union replaces spans by the memory that they cover together: spans that do not overlap, in
// increasing order, without empty ones.
func union(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.lo, b.lo) })
	out := spans[:0]
	for _, s := range spans {
		switch last := len(out) - 1; {
		case s.lo == s.hi:
		case last >= 0 && s.lo <= out[last].hi:
			out[last].hi = max(out[last].hi, s.hi)
		default:
			out = append(out, s)
		}
	}
	return out
}
