package cpu

// The kernels of this file copy src to dst and then apply updates to dst in row-major order. dst and
// src have equal lengths and may be the same slice. A negative index counts from the end. The kernels
// return an [IndexError] for an index out of range; earlier updates are then applied.

// ScatterElements replaces single elements along an axis (ONNX ScatterElements). For axis 1, dst[i,
// idx[i, j, k], k] = updates[i, j, k]. The other elements of dst are copied from src. idx and
// updates have the shape `shape`, and src and dst have the shape srcShape. On each axis except
// `axis`, shape[i] must be at most srcShape[i]. ScatterElements returns an error if it is greater.
// It returns an [IndexError] for an index out of range; dst is then partly written.
func ScatterElements[T any, I int32 | int64](dst, src []T, idx []I, updates []T, shape, srcShape []int, axis int) error {
	return scatterElements(dst, src, idx, updates, shape, srcShape, axis, func(_, u T) T { return u })
}

// ScatterElementsAdd is like [ScatterElements] but adds updates to elements (reduction add).
func ScatterElementsAdd[T Number, I int32 | int64](dst, src []T, idx []I, updates []T, shape, srcShape []int, axis int) error {
	return scatterElements(dst, src, idx, updates, shape, srcShape, axis, func(x, u T) T { return x + u })
}

// ScatterElementsMul is like [ScatterElements] but multiplies elements by updates (reduction mul).
func ScatterElementsMul[T Number, I int32 | int64](dst, src []T, idx []I, updates []T, shape, srcShape []int, axis int) error {
	return scatterElements(dst, src, idx, updates, shape, srcShape, axis, func(x, u T) T { return x * u })
}

// ScatterElementsMax is like [ScatterElements], but combines instead of replacing: it keeps the
// larger of element and update (reduction max). See [Max] for NaN.
func ScatterElementsMax[T Number, I int32 | int64](dst, src []T, idx []I, updates []T, shape, srcShape []int, axis int) error {
	return scatterElements(dst, src, idx, updates, shape, srcShape, axis, greater[T])
}

// ScatterElementsMin is like [ScatterElements], but combines instead of replacing: it keeps the
// smaller of element and update (reduction min). See [Min] for NaN.
func ScatterElementsMin[T Number, I int32 | int64](dst, src []T, idx []I, updates []T, shape, srcShape []int, axis int) error {
	return scatterElements(dst, src, idx, updates, shape, srcShape, axis, lesser[T])
}

func scatterElements[T any, I int32 | int64](dst, src []T, idx []I, updates []T, shape, srcShape []int, axis int, reduce func(x, u T) T) error {
	e, err := elementsOf(shape, srcShape, axis)
	if err != nil {
		return err
	}
	dst, src, idx, updates = trim(dst, e.size), trim(src, e.size), trim(idx, e.n), trim(updates, e.n)
	copy(dst, src)
	for i := 0; i < e.n; i += e.width {
		to, from := dst[e.line(i):], updates[i:][:e.width]
		for j, k := range idx[i:][:e.width] {
			at, ok := fromFront(k, e.dim)
			if !ok {
				return &IndexError{Index: int64(k), Dim: e.dim}
			}
			x := &to[j*e.step+at*e.stride]
			*x = reduce(*x, from[j])
		}
	}
	return nil
}

// ScatterND replaces the slices that coordinates select (ONNX ScatterND): dst[idx[j, 0], idx[j, 1], …, :] =
// updates[j, :]. The other slices of dst are copied from src. dst and src are [extents…, inner], idx is [tuples,
// len(extents)], and updates is [tuples, inner]. ScatterND returns an [IndexError] for a coordinate out of range; dst
// is then partly written.
func ScatterND[T any, I int32 | int64](dst, src []T, idx []I, updates []T, extents []int, inner int) error {
	return scatterND(dst, src, idx, updates, extents, inner, func(x, u []T) { copy(x, u) })
}

// ScatterNDAdd is like [ScatterND] but adds updates to slices (reduction add).
func ScatterNDAdd[T Number, I int32 | int64](dst, src []T, idx []I, updates []T, extents []int, inner int) error {
	return scatterND(dst, src, idx, updates, extents, inner, func(x, u []T) { Add(x, x, u) })
}

// ScatterNDMul is like [ScatterND] but multiplies slices by updates (reduction mul).
func ScatterNDMul[T Number, I int32 | int64](dst, src []T, idx []I, updates []T, extents []int, inner int) error {
	return scatterND(dst, src, idx, updates, extents, inner, func(x, u []T) { Mul(x, x, u) })
}

// ScatterNDMax is like [ScatterND], but combines instead of replacing: it keeps the larger of
// element and update (reduction max). See [Max] for NaN.
func ScatterNDMax[T Number, I int32 | int64](dst, src []T, idx []I, updates []T, extents []int, inner int) error {
	return scatterND(dst, src, idx, updates, extents, inner, func(x, u []T) { Max(x, x, u) })
}

// ScatterNDMin is like [ScatterND], but combines instead of replacing: it keeps the smaller of
// element and update (reduction min). See [Min] for NaN.
func ScatterNDMin[T Number, I int32 | int64](dst, src []T, idx []I, updates []T, extents []int, inner int) error {
	return scatterND(dst, src, idx, updates, extents, inner, func(x, u []T) { Min(x, x, u) })
}

func scatterND[T any, I int32 | int64](dst, src []T, idx []I, updates []T, extents []int, inner int, reduce func(x, u []T)) error {
	k, size := len(extents), volume(volume(extents...), inner)
	tuples := len(idx) / k
	dst, src, updates = trim(dst, size), trim(src, size), trim(updates, volume(tuples, inner))
	copy(dst, src)
	for j := range tuples {
		slice, err := tuple(idx[j*k:][:k], extents)
		if err != nil {
			return err
		}
		reduce(dst[slice*inner:][:inner], updates[j*inner:][:inner])
	}
	return nil
}
