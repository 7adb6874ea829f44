package rt

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"
)

// checkBatch returns an error if a batch of n items exceeds max, the largest batch of the session,
// or dst, the number of results that the caller has room for.
func checkBatch(where string, n, dst, max int) error {
	if n > max {
		return fmt.Errorf("%s: batch of %d: session holds %d at most", where, n, max)
	}
	if dst != n {
		return fmt.Errorf("%s: dst has room for %d: batch of %d", where, dst, n)
	}
	return nil
}

// CheckTensor calls [Tensor.Check] on an argument. It returns an error "where: name: …" if the
// length of t.Data does not match t.Shape.
func CheckTensor[T any](where, name string, t Tensor[T]) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("%s: %s: %w", where, name, err)
	}
	return nil
}

// CheckLen returns an error "where: name: …" unless got equals want. got is the number of elements
// of an argument.
func CheckLen(where, name string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: %s: %d elements expected, got %d", where, name, want, got)
	}
	return nil
}

// CheckDim returns an error "where: name: …" unless got equals want. got is an extent of the tensor
// called name. Generated code calls CheckDim where the compiler could not prove that two extents
// are equal.
func CheckDim(where, name string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: %s: extent %d expected, got %d", where, name, want, got)
	}
	return nil
}

// CheckBroadcast returns an error "where: name: …" unless got is 1 or equals want. got is an extent
// that is broadcast to want. Generated code calls CheckBroadcast where the compiler could not prove
// this.
func CheckBroadcast(where, name string, got, want int) error {
	if got != 1 && got != want {
		return fmt.Errorf("%s: %s: extent 1 or %d expected, got %d", where, name, want, got)
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

// overlaps reports whether a span has memory of spans, which union returned.
func overlaps(d span, spans []span) bool {
	i, _ := slices.BinarySearchFunc(spans, d.lo, func(a span, at uintptr) int { return cmp.Compare(a.hi, at+1) })
	return i < len(spans) && spans[i].lo < d.hi && d.lo < d.hi
}

// union sorts spans, merges spans that overlap, and drops empty ones.
func union(spans []span) []span {
	if len(spans) > 1 { // most calls have one argument
		slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	}
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
