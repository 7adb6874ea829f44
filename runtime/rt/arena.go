package rt

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

const alignment = 64

var arenaLimit atomic.Int64 // 0 until ArenaLimit sets it

// ArenaLimit sets the largest arena that a session may have, in bytes, if limit
// is above 0, and returns the limit before. It is 64 GiB at first, and 1 GiB where
// addresses have 32 bits. The limit turns a request that no machine can serve
// into an error of NewSession or Forward, where Go would end the program.
func ArenaLimit(limit int64) int64 {
	old := arenaLimit.Load()
	if limit > 0 {
		old = arenaLimit.Swap(limit)
	}
	switch {
	case old != 0:
		return old
	case math.MaxInt == math.MaxInt32 || runtime.GOARCH == "wasm":
		return 1 << 30
	}
	return 64 << 30
}

// NewArena returns zeroed memory that starts on a multiple of 64 bytes. Errors:
// a negative size, one over [ArenaLimit], and one that the address space cannot
// hold.
func NewArena(bytes int64) (arena []byte, err error) {
	limit := min(ArenaLimit(0), math.MaxInt-alignment)
	switch {
	case bytes < 0:
		return nil, fmt.Errorf("arena: %d bytes: size is negative", bytes)
	case bytes > limit:
		return nil, fmt.Errorf("arena: %d bytes: limit is %d (rt.ArenaLimit)", bytes, limit)
	}
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("arena: %d bytes: more than the address space holds", bytes)
		}
	}()
	return alignedBytes(int(bytes)), nil
}

// CheckSize returns an error if n elements of T take more bytes than [ArenaLimit],
// or n is negative. A pointer in T counts, what it points to does not.
func CheckSize[T any](n int) error {
	size := max(1, int64(unsafe.Sizeof(*new(T))))
	if limit := ArenaLimit(0); n < 0 || int64(n) > limit/size {
		return fmt.Errorf("%d elements of %d bytes: limit is %d bytes (rt.ArenaLimit)", n, size, limit)
	}
	return nil
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
