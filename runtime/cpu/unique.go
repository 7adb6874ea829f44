package cpu

import (
	"cmp"
	"slices"
)

type sortable interface{ Number | string }

// compareRows compares rows i and j of a matrix lexicographically. It returns a number that is
// negative, 0 or positive. NaN equals NaN and is larger than every number.
func compareRows[T sortable](src []T, width int, i, j int64) int {
	x, y := src[int(i)*width:][:width], src[int(j)*width:][:width]
	for k, a := range x {
		b := y[k]
		if a < b || b != b && a == a {
			return -1
		}
		if b < a || a != a && b == b {
			return 1
		}
	}
	return 0
}

// SortRows sets dst to the indices of the rows of src, in ascending order of the rows. Rows are
// compared lexicographically; equal rows are in order of their indices. src has len(dst) rows and
// `width` columns, and does not change.
func SortRows[T sortable](dst []int64, src []T, width int) {
	src = trim(src, volume(len(dst), width))
	for i := range dst {
		dst[i] = int64(i)
	}
	if width == 1 {
		slices.SortFunc(dst, func(i, j int64) int {
			a, b := src[i], src[j]
			if a < b {
				return -1
			}
			if b < a {
				return 1
			}
			return cmp.Or(compareRows(src, 1, i, j), int(i-j)) // NaN, or equal
		})
		return
	}
	slices.SortFunc(dst, func(i, j int64) int {
		if order := compareRows(src, width, i, j); order != 0 {
			return order
		}
		return int(i - j)
	})
}

// CountUnique returns the number of distinct rows of src. order is the result of [SortRows].
func CountUnique[T sortable](src []T, order []int64, width int) int {
	n := 0
	for i, row := range order {
		if i == 0 || compareRows(src, width, order[i-1], row) != 0 {
			n++
		}
	}
	return n
}

// Unique finds the distinct rows of src (ONNX Unique). order is the result of [SortRows]. The
// results are:
//
//   - dst: the distinct rows
//   - first: for each distinct row, the index of its first occurrence in src
//   - inverse: for each row of src, the index of its distinct row
//   - counts: for each distinct row, the number of occurrences
//
// The distinct rows are in ascending order if sorted is set, and otherwise in order of first
// occurrence.
func Unique[T sortable](dst []T, first, inverse, counts []int64, src []T, order []int64, width int, sorted bool) {
	inverse, counts = trim(inverse, len(order)), trim(counts, len(first))
	n := int64(0)
	for i, row := range order {
		if i == 0 || compareRows(src, width, order[i-1], row) != 0 {
			first[n], counts[n] = row, 0
			n++
		}
		inverse[row] = n - 1
		counts[n-1]++
	}
	if !sorted {
		numberByPlace(first, inverse, counts)
	}
	for k, row := range first {
		copy(dst[k*width:][:width], src[int(row)*width:][:width])
	}
}

// numberByPlace gives groups of rows new numbers, in the order of their first rows. inverse[i] is
// the group of row i. numberByPlace changes `first`, `inverse` and `counts` to the new numbers.
// While it works, first[g] is −1−k if the new number of group g is k.
func numberByPlace(first, inverse, counts []int64) {
	n := int64(0)
	for i, group := range inverse {
		if first[group] >= 0 {
			n++
			first[group] = -n
		}
		inverse[i] = -1 - first[group]
	}
	clear(counts)
	for i, group := range inverse {
		if counts[group] == 0 {
			first[group] = int64(i)
		}
		counts[group]++
	}
}
