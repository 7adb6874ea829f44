package cpu

// Gather picks slices of the middle axis: dst[o, j, :] = src[o, idx[j], :] (ONNX Gather). src is
// [outer, dim, inner], and dst is [outer, len(idx), inner]. A negative index counts from the end.
// Gather returns an [IndexError] for an index outside of −dim…dim−1; dst is then partly written.
func Gather[T any, I int32 | int64](dst, src []T, idx []I, outer, dim, inner int) error {
	dst, src = trim(dst, volume(outer, len(idx), inner)), trim(src, volume(outer, dim, inner))
	for o := range outer {
		from := src[o*dim*inner:][:dim*inner]
		to := dst[o*len(idx)*inner:][:len(idx)*inner]
		for j, k := range idx {
			at, ok := fromFront(k, dim)
			if !ok {
				return &IndexError{Index: int64(k), Dim: dim}
			}
			if inner == 1 {
				to[j] = from[at]
				continue
			}
			copy(to[j*inner:][:inner], from[at*inner:][:inner])
		}
	}
	return nil
}

// GatherElements picks single elements along an axis (ONNX GatherElements). For axis 1, dst[i, j,
// k] = src[i, idx[i, j, k], k]. dst and idx have the shape `shape`, and src has the shape srcShape.
// On each axis except `axis`, the extent in shape must be at most the extent in srcShape. A
// negative index counts from the end. GatherElements returns an [IndexError] for an index out of
// range, or for an extent in shape that is too large; dst may then be partly written.
func GatherElements[T any, I int32 | int64](dst, src []T, idx []I, shape, srcShape []int, axis int) error {
	e, err := elementsOf(shape, srcShape, axis)
	if err != nil {
		return err
	}
	dst, src, idx = trim(dst, e.n), trim(src, e.size), trim(idx, e.n)
	for i := 0; i < e.n; i += e.width {
		from, to := src[e.line(i):], dst[i:][:e.width]
		for j, k := range idx[i:][:e.width] {
			at, ok := fromFront(k, e.dim)
			if !ok {
				return &IndexError{Index: int64(k), Dim: e.dim}
			}
			to[j] = from[j*e.step+at*e.stride]
		}
	}
	return nil
}

// GatherND picks slices by coordinates (ONNX GatherND): dst[b, j, :] = src[b, idx[b, j, 0], idx[b, j,
// 1], …, :]. src is [batches, extents…, inner], idx is [batches, tuples, len(extents)], and dst is
// [batches, tuples, inner]. A negative coordinate counts from the end. GatherND returns an
// [IndexError] for a coordinate out of range; dst is then partly written.
func GatherND[T any, I int32 | int64](dst, src []T, idx []I, batches, tuples int, extents []int, inner int) error {
	k, slices := len(extents), volume(extents...)
	dst, src = trim(dst, volume(batches, tuples, inner)), trim(src, volume(batches, slices, inner))
	idx = trim(idx, volume(batches, tuples, k))
	for b := range batches {
		from := src[b*slices*inner:][:slices*inner]
		for j := b * tuples; j < (b+1)*tuples; j++ {
			slice, err := tuple(idx[j*k:][:k], extents)
			if err != nil {
				return err
			}
			copy(dst[j*inner:][:inner], from[slice*inner:][:inner])
		}
	}
	return nil
}
