package rt

import (
	"fmt"
	"math"
	"unsafe"
)

const alignment = 64

// NewArena returns zeroed memory that starts on a multiple of 64 bytes. Errors:
// a negative size, one over [ArenaLimit], and one that the program's memory or its
// address space cannot hold.
func NewArena(bytes int64) (arena []byte, err error) {
	limit := min(ArenaLimit(0), math.MaxInt-alignment)
	switch {
	case bytes < 0:
		return nil, fmt.Errorf("arena: %d bytes: size is negative", bytes)
	case bytes > limit:
		return nil, fmt.Errorf("arena: %d bytes: limit is %d (rt.ArenaLimit)", bytes, limit)
	}
	if err := checkFree(bytes); err != nil {
		return nil, fmt.Errorf("arena: %w", err)
	}
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("arena: %d bytes: more than the address space holds", bytes)
		}
	}()
	return alignedBytes(int(bytes)), nil
}

// alignedBytes returns n zeroed bytes that start on a multiple of 64.
func alignedBytes(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	b := make([]byte, n+alignment-1)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (alignment - 1)
	return b[skip : skip+n : skip+n]
}

// bytesIn returns n bytes in the capacity of room, or zeroed ones where that is too small.
func bytesIn(room []byte, n int) []byte {
	if cap(room) < n {
		return alignedBytes(n)
	}
	return room[:n]
}

// View returns n elements of arena from byte off on, with no capacity beyond
// them. T holds no pointers and off is a multiple of its alignment, as planned;
// a range outside arena panics, as slicing does. A negative n is what [Recover] takes for
// arguments that are too small.
func View[T any](arena []byte, off, n int) []T {
	if n == 0 {
		return nil
	}
	if size := int(unsafe.Sizeof(*new(T))); n < 0 || off < 0 || off > len(arena) || n > (len(arena)-off)/size {
		panic(outside(n, size, off, len(arena)))
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&arena[off])), n)
}

// outside is what a view of n elements that is not inside an arena panics with.
func outside(n, size, off, arena int) any {
	if n < 0 {
		return tooSmall(n)
	}
	return fmt.Sprintf("view of %d elements of %d bytes at byte %d: arena has %d bytes", n, size, off, arena)
}
