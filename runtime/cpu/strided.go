package cpu

import (
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// Fill sets every element of dst to v.
func Fill[T any](dst []T, v T) {
	n := min(len(dst), 64)
	for i := range dst[:n] {
		dst[i] = v
	}
	for n < len(dst) {
		n += copy(dst[n:], dst[:min(n, 4096)])
	}
}

// Copy computes dst[i] = src[i].
func Copy[T any](dst, src []T) {
	copy(dst, trim(src, len(dst)))
}

// StridedCopy copies elements of src in an order that strides define: dst[i0, i1, …] = src[offset +
// i0·strides[0] + i1·strides[1] + …]. dst is row-major with shape dims. Strides are in elements and
// may be 0 or negative. StridedCopy therefore implements Transpose, Expand, Slice, DepthToSpace and
// others. dims and strides have the same length, which is 0 for a scalar. StridedCopy is fastest if
// the last stride is 1 or 0.
func StridedCopy[T any](dst, src []T, dims, strides []int, offset int) {
	n, s, dims, strides := lead(dims, strides)
	if copyShared(dst, src, n, s, dims, strides, offset, false) {
		return
	}
	walk(n, s, dims, strides, 0, offset, func(dense, strided, rows, cols, s0, s1 int) {
		move(dst, dense, cols, 1, src, strided, s0, s1, rows, cols)
	})
}

// ScatterStrided is the inverse of [StridedCopy]: dst[offset + i0·strides[0] + i1·strides[1] + …] =
// src[i0, i1, …]. src is row-major with shape dims. The other elements of dst do not change.
// ScatterStrided implements Concat and Pad.
func ScatterStrided[T any](dst, src []T, dims, strides []int, offset int) {
	n, s, dims, strides := lead(dims, strides)
	if copyShared(dst, src, n, s, dims, strides, offset, true) {
		return
	}
	walk(n, s, dims, strides, 0, offset, func(dense, strided, rows, cols, s0, s1 int) {
		move(dst, strided, s0, s1, src, dense, cols, 1, rows, cols)
	})
}

// stridedCopy is the state of a running [StridedCopy] or [ScatterStrided] of f32. Workers divide
// its first axis among them.
type stridedCopy struct {
	dst, src      []float32
	n, s, rank    int // the first axis, and the number of the others
	dims, strides [6]int
	offset        int
	scatters      bool
}

var stridedCopies slot[stridedCopy, *stridedCopy]

// copyShared copies an array of f32 on the workers of the pool, and reports whether it did. It does
// nothing if the array is small. It does nothing either if the array is a single transposed matrix,
// because [transpose] uses the pool itself. The first axis has extent n and stride s. dims and
// strides describe the other axes.
func copyShared[T any](dst, src []T, n, s int, dims, strides []int, offset int, scatters bool) bool {
	d, u, ok := float32s(dst, src)
	if !ok || len(dims) == 0 || len(dims) > len(stridedCopy{}.dims) {
		return false
	}
	m, t, rest, _ := lead(dims, strides)
	if len(rest) == 0 && t != 1 {
		return false
	}
	elems := n * m
	for _, d := range rest {
		elems *= d
	}
	if elems < sharedFrom {
		return false
	}
	c := stridedCopy{dst: onHeap(d), src: onHeap(u), n: n, s: s, rank: len(dims), offset: offset, scatters: scatters}
	copy(c.dims[:], dims)
	copy(c.strides[:], strides)
	return stridedCopies.run(&c, min(n, rt.Parts(int64(elems)/2)))
}

// Part implements [rt.Task]. It copies part i of `parts` of the first axis.
func (c *stridedCopy) Part(i, parts int) {
	from, to := portion(c.n, i, parts)
	dims := c.dims[:c.rank]
	size := 1
	for _, d := range dims {
		size *= d
	}
	walk(to-from, c.s, dims, c.strides[:c.rank], from*size, c.offset+from*c.s, func(dense, strided, rows, cols, s0, s1 int) {
		if c.scatters {
			move(c.dst, strided, s0, s1, c.src, dense, cols, 1, rows, cols)
		} else {
			move(c.dst, dense, cols, 1, c.src, strided, s0, s1, rows, cols)
		}
	})
}

// lead returns the extent n and the stride s of the first axis, and the axes after it. It drops axes
// of extent 1 before the first axis. It merges an axis with the first one if the two are contiguous,
// and drops axes of extent 1 between them.
func lead(dims, strides []int) (n, s int, restDims, restStrides []int) {
	n = 1
	for i, d := range dims {
		switch {
		case n == 1:
			n, s = d, strides[i]
		case d == 1:
		case s == d*strides[i]:
			n, s = n*d, strides[i]
		default:
			return n, s, dims[i:], strides[i:]
		}
	}
	return n, s, nil, nil
}

// walk divides a strided array into matrices, and calls the function `leaf` for each matrix. The first axis of the
// array has extent n and stride s. dims and strides describe the other axes. A dense array has the same shape.
// `dense` and `strided` are the offsets of the first elements in the two arrays. leaf receives the offsets of the
// matrix in both arrays, its numbers of rows and columns, and its strides in the strided array.
func walk(n, s int, dims, strides []int, dense, strided int, leaf func(dense, strided, rows, cols, s0, s1 int)) {
	if len(dims) == 0 {
		leaf(dense, strided, 1, n, 0, s)
		return
	}
	size := 1
	for _, d := range dims {
		size *= d
	}
	m, t, dims, strides := lead(dims, strides)
	if len(dims) == 0 {
		leaf(dense, strided, n, m, s, t)
		return
	}
	for i := range n {
		walk(m, t, dims, strides, dense+i*size, strided+i*s, leaf)
	}
}

// octetsOf returns the memory of s as bytes, without a copy. T must have 8 bits and no pointers.
func octetsOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// wordsOf returns the memory of s as uint32s, without a copy. T must have 32 bits and no pointers.
func wordsOf[T any](s []T) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// moveTile is the side of the square tiles that the function move copies in its default case. It is so small that rows
// and columns of a tile stay in a first-level cache.
const moveTile = 32

// move copies a matrix from src to dst. In dst, d is the index of the first element, d0 is the
// distance between rows, and d1 is the distance between columns. s, s0 and s1 are the same in src.
func move[T any](dst []T, d, d0, d1 int, src []T, s, s0, s1 int, rows, cols int) {
	switch {
	case rows == 0 || cols == 0:
	case d1 == 1 && s0 == 1 && d0 >= cols && s1 >= rows:
		transpose(dst[d:], src[s:], cols, rows, d0, s1)
	case d0 == 1 && s1 == 1 && d1 >= rows && s0 >= cols:
		transpose(dst[d:], src[s:], rows, cols, d1, s0)
	case d1 == 1 && s1 == 1:
		for r := range rows {
			copy(dst[d+r*d0:][:cols], src[s+r*s0:][:cols])
		}
	case d1 == 1 && s1 == 0:
		for r := range rows {
			Fill(dst[d+r*d0:][:cols], src[s+r*s0])
		}
	case d1 == 1 && s1 == 2 && cols >= 16 && unsafe.Sizeof(*new(T)) == 4:
		for r := range rows {
			everySecond(wordsOf(dst[d+r*d0:][:cols]), wordsOf(src[s+r*s0:][:2*cols-1]))
		}
	default:
		for r0 := 0; r0 < rows; r0 += moveTile {
			for c0 := 0; c0 < cols; c0 += moveTile {
				for r := r0; r < min(r0+moveTile, rows); r++ {
					to, from, n := d+r*d0+c0*d1, s+r*s0+c0*s1, min(moveTile, cols-c0)
					if d1 == 1 {
						for i := range dst[to:][:n] {
							dst[to+i] = src[from]
							from += s1
						}
						continue
					}
					for range n {
						dst[to] = src[from]
						to, from = to+d1, from+s1
					}
				}
			}
		}
	}
}
