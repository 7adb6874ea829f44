//go:build !noasm

package cpu

import "unsafe"

// hasSquares reports whether there are squares of T, which must not hold pointers.
func hasSquares[T any](s []T) bool {
	switch unsafe.Sizeof(*new(T)) {
	case 1, 2, 4:
		return true
	case 8:
		switch any(s).(type) {
		case []int64, []uint64, []float64:
			return true
		}
	}
	return false
}

// transposeLine transposes n squares of elements of a size in bytes.
func transposeLine(size int, dst, src unsafe.Pointer, dstRow, srcRow, dstNext, srcNext, n int) {
	switch size {
	case 1:
		transposeSquareOf1(dst, src, dstRow, srcRow, dstNext, srcNext, n)
	case 2:
		transposeSquareOf2(dst, src, dstRow, srcRow, dstNext, srcNext, n)
	case 4:
		transposeSquare(dst, src, dstRow, srcRow, dstNext, srcNext, n)
	case 8:
		transposeSquareOf8(dst, src, dstRow, srcRow, dstNext, srcNext, n)
	}
}

// stripsPerCall bounds the time of one call.
const stripsPerCall = 4096

// strips does n strips of so many columns, one below the other, and returns n.
func (t *transposition) strips(n, columns int) int {
	down := t.size * 8 * t.lds
	for done := 0; done < n; done += stripsPerCall {
		to, from := unsafe.Add(t.to, t.size*8*done), unsafe.Add(t.from, down*done)
		count := min(stripsPerCall, n-done)
		switch t.size {
		case 1:
			transposeStripOf1(to, from, t.ldd, t.lds, 8, down, count, columns)
		case 2:
			transposeStripOf2(to, from, 2*t.ldd, 2*t.lds, 16, down, count, columns)
		case 4:
			transposeStrip(to, from, 4*t.ldd, 4*t.lds, 32, down, count, columns)
		case 8:
			transposeStripOf8(to, from, 8*t.ldd, 8*t.lds, 64, down, count, columns)
		}
	}
	return n
}
