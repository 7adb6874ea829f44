package rt

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"unsafe"
)

var arenaLimit atomic.Int64 // 0 until ArenaLimit sets it

// ArenaLimit returns the largest size in bytes that one arena, tensor or list may have. If `limit` is
// above 0, it sets the size to `limit` and returns the old size. NewSession or Forward returns an error
// if it needs more. Without such an error, the Go runtime would end the program when memory is
// exhausted.
//
// The default is determined at the first call that needs it. It is the smallest of GOMEMLIMIT, the
// control group's limit on Linux, and the machine's memory. If the group's limit and the machine's
// memory are unknown, 8 GiB takes their place. The default is at most 1 GiB on 32-bit machines and on
// WebAssembly. Under the default, a request of 64 MiB or more is also an error if it does not fit
// beside the memory that the program has already allocated.
func ArenaLimit(limit int64) int64 {
	old := arenaLimit.Load()
	if limit > 0 {
		old = arenaLimit.Swap(limit)
	}
	if old != 0 {
		return old
	}
	return programMemory()
}

var programMemory = sync.OnceValue(func() int64 {
	has := machineMemory()
	if has <= 0 {
		has = 8 << 30
	}
	if math.MaxInt == math.MaxInt32 || runtime.GOARCH == "wasm" {
		has = min(has, 1<<30)
	}
	return min(has, debug.SetMemoryLimit(-1)) // a negative argument only queries the limit
})

// CheckSize returns an error if n is negative or n elements of T take more bytes than [ArenaLimit].
// Memory that T points to is not counted.
func CheckSize[T any](n int) error {
	size := max(1, int64(unsafe.Sizeof(*new(T))))
	if limit := ArenaLimit(0); n < 0 || int64(n) > limit/size {
		return fmt.Errorf("%d elements of %d bytes: limit is %d bytes (rt.ArenaLimit)", n, size, limit)
	}
	return nil
}

// checkFree returns an error if an allocation of `bytes` bytes is large and exceeds the free memory. It
// returns nil if the program has set a limit with [ArenaLimit].
func checkFree(bytes int64) error {
	if arenaLimit.Load() != 0 {
		return nil
	}
	return fits(bytes, programMemory())
}

// [fits] accepts every request of fewer than fitsAlways bytes. For larger ones it looks at the memory in
// use.
const fitsAlways = 64 << 20

// fits returns an error if `bytes` is at least fitsAlways, and `bytes` plus the allocated memory
// exceeds `limit` even after a garbage collection.
func fits(bytes, limit int64) error {
	if bytes < fitsAlways || bytes <= limit-allocated() {
		return nil
	}
	debug.FreeOSMemory() // collect garbage first
	if used := allocated(); bytes > limit-used {
		return fmt.Errorf("%d bytes beside %d in use: limit is %d (rt.ArenaLimit)", bytes, used, limit)
	}
	return nil
}

// allocated returns the bytes that Go has taken from the system, counted as for GOMEMLIMIT.
func allocated() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// Grow makes *s a slice of n elements. It reuses the memory of *s if the capacity suffices. The values
// are undefined. Grow returns an error if n is negative, or if the slice would take more than
// [ArenaLimit] or than the free memory. *s may then be nil.
func Grow[T any](s *[]T, n int) error {
	if err := CheckSize[T](n); err != nil {
		return err
	}
	if n > cap(*s) {
		*s = nil // allows the old memory to be freed first
		if err := checkFree(int64(n) * int64(unsafe.Sizeof(*new(T)))); err != nil {
			return err
		}
		*s = make([]T, n)
	}
	*s = (*s)[:n]
	return nil
}

// Room calls [Grow] for a result with one element for each item of a batch. Its error starts with
// `where`.
func Room[T any](where string, s *[]T, n int) error {
	if err := Grow(s, n); err != nil {
		return fmt.Errorf("%s: room for a batch of %d: %w", where, n, err)
	}
	return nil
}

// Extend lengthens *s by n elements and keeps the existing ones. The new values are undefined. The
// capacity grows geometrically, so that many short extensions take linear time in total. If [Grow]
// fails, Extend tries again with less spare capacity. The smallest extension that it tries is n
// elements or an eighth of the length, whichever is more. If that fails too, it returns the error of
// Grow. It also returns an error if n is negative or the length overflows an int.
func Extend[T any](s *[]T, n int) error {
	old := *s
	if n < 0 || n > math.MaxInt-len(old) {
		return fmt.Errorf("%d elements after %d: too many", n, len(old))
	}
	if len(old)+n <= cap(old) {
		*s = old[:len(old)+n]
		return nil
	}
	var grown []T
	most := int(min(ArenaLimit(0)/max(1, int64(unsafe.Sizeof(*new(T)))), math.MaxInt))
	for ahead := len(old); ; ahead /= 2 {
		more := max(n, min(ahead, most-len(old)))
		err := Grow(&grown, len(old)+more)
		if err == nil {
			break
		}
		if more <= max(n, len(old)/8) {
			return err
		}
	}
	copy(grown, old)
	*s = grown[:len(old)+n]
	return nil
}
