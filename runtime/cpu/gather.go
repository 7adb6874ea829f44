package cpu

import "strconv"

// An IndexError is an index outside an axis.
type IndexError struct {
	Index int64
	Dim   int // extent of the axis
}

// Error says which index and which extent.
func (e *IndexError) Error() string {
	return "cpu: index " + strconv.FormatInt(e.Index, 10) + " of an axis of " + strconv.Itoa(e.Dim)
}

// Gather picks slices of the middle axis of src, which is [outer, dim, inner]:
// dst[o, j, :] = src[o, idx[j], :], so dst is [outer, len(idx), inner] (ONNX Gather).
// A negative index counts from the end. An index outside −dim…dim−1 is an
// [IndexError], and dst is then partly written.
func Gather[T any, I int32 | int64](dst, src []T, idx []I, outer, dim, inner int) error {
	dst, src = trim(dst, outer*len(idx)*inner), trim(src, outer*dim*inner)
	for o := range outer {
		from := src[o*dim*inner:][:dim*inner]
		to := dst[o*len(idx)*inner:][:len(idx)*inner]
		for j, k := range idx {
			at := int64(k)
			if at < 0 {
				at += int64(dim)
			}
			if at < 0 || at >= int64(dim) {
				return &IndexError{Index: int64(k), Dim: dim}
			}
			if inner == 1 {
				to[j] = from[at]
				continue
			}
			copy(to[j*inner:][:inner], from[int(at)*inner:][:inner])
		}
	}
	return nil
}
