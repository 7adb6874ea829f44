//go:build !noasm

package cpu

import "unsafe"

// hasSquares reports whether there are squares of T, which must not hold pointers.
func hasSquares[T any](s []T) bool { return unsafe.Sizeof(*new(T)) == 4 }

func transposeLine(_ int, dst, src unsafe.Pointer, dstRow, srcRow, dstNext, srcNext, n int) {
	transposeSquare(dst, src, dstRow, srcRow, dstNext, srcNext, n)
}

// strips does none of n strips.
func (t *transposition) strips(n, columns int) int { return 0 }
