package rt

import (
	"fmt"
	"math"
	"unsafe"
)

const alignment = 64

// NewArena returns zeroed memory that starts at a multiple of 64 bytes. It returns an error if
// `bytes` is negative or exceeds [ArenaLimit], or if the program has too little memory or address
// space.
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

// alignedBytes returns n zeroed bytes at an address that is a multiple of 64.
func alignedBytes(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	b := make([]byte, n+alignment-1)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (alignment - 1)
	return b[skip : skip+n : skip+n]
}

// bytesIn returns room[:n] if the capacity of room suffices, else n new zeroed bytes.
func bytesIn(room []byte, n int) []byte {
	if cap(room) < n {
		return alignedBytes(n)
	}
	return room[:n]
}

// View returns n elements of arena that start at byte off; the capacity is n too. It returns nil if
// n is 0. T must not hold pointers, and off must be a multiple of the alignment of T. View panics if
// n is negative or the range lies outside arena. [Recover] turns this panic into an error. If n is
// negative, the error says that arguments are too small.
func View[T any](arena []byte, off, n int) []T {
	if n == 0 {
		return nil
	}
	if size := int(unsafe.Sizeof(*new(T))); n < 0 || off < 0 || off > len(arena) || n > (len(arena)-off)/size {
		panic(outside(n, size, off, len(arena)))
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&arena[off])), n)
}

// outside returns the value with which View panics. The range is n elements of `size` bytes at byte
// off, which does not lie inside an arena of `arena` bytes.
func outside(n, size, off, arena int) any {
	if n < 0 {
		return tooSmall(n)
	}
	return fmt.Sprintf("view of %d elements of %d bytes at byte %d: arena has %d bytes", n, size, off, arena)
}
