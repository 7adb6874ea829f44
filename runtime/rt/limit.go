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

// ArenaLimit sets the largest size of one arena, tensor or list, in bytes, if limit
// is above 0, and returns the limit before. The limit turns a request that the machine
// cannot serve into an error of NewSession or Forward, where Go would end the program.
//
// The default is the memory that the program may use when the first call asks for it:
// GOMEMLIMIT, the limit of its control group on Linux, or the memory of the machine,
// whichever is least. It is 8 GiB where none of them is known, and at most 1 GiB where
// addresses have 32 bits. Under the default a large request is an error, too, if it does
// not fit beside what the program has allocated.
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

// programMemory returns how many bytes the program may use.
var programMemory = sync.OnceValue(func() int64 {
	has := machineMemory()
	if has <= 0 {
		has = 8 << 30
	}
	if math.MaxInt == math.MaxInt32 || runtime.GOARCH == "wasm" {
		has = min(has, 1<<30)
	}
	return min(has, debug.SetMemoryLimit(-1)) // a negative limit only asks
})

// CheckSize returns an error if n elements of T take more bytes than [ArenaLimit],
// or n is negative. A pointer in T counts, what it points to does not.
func CheckSize[T any](n int) error {
	size := max(1, int64(unsafe.Sizeof(*new(T))))
	if limit := ArenaLimit(0); n < 0 || int64(n) > limit/size {
		return fmt.Errorf("%d elements of %d bytes: limit is %d bytes (rt.ArenaLimit)", n, size, limit)
	}
	return nil
}

// checkFree returns an error if bytes do not fit beside what the program has allocated.
// A limit that was set is the caller's business.
func checkFree(bytes int64) error {
	if arenaLimit.Load() != 0 {
		return nil
	}
	return fits(bytes, programMemory())
}

// fitsAlways is how many bytes are allocated without asking what else is.
const fitsAlways = 64 << 20

// fits returns an error if bytes and what the program has allocated are more than limit.
func fits(bytes, limit int64) error {
	if bytes < fitsAlways || bytes <= limit-allocated() {
		return nil
	}
	debug.FreeOSMemory() // what is garbage does not count
	if used := allocated(); bytes > limit-used {
		return fmt.Errorf("%d bytes beside %d in use: limit is %d (rt.ArenaLimit)", bytes, used, limit)
	}
	return nil
}

// allocated returns how much memory Go has taken from the system, as GOMEMLIMIT counts it.
func allocated() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// Grow makes s a slice of n elements, in its memory if that has room. Their values are
// undefined. Errors: a negative n, more bytes than [ArenaLimit], and more than the
// program's memory holds, after which s is nil.
func Grow[T any](s *[]T, n int) error {
	if err := CheckSize[T](n); err != nil {
		return err
	}
	if n > cap(*s) {
		*s = nil // may be freed first
		if err := checkFree(int64(n) * int64(unsafe.Sizeof(*new(T)))); err != nil {
			return err
		}
		*s = make([]T, n)
	}
	*s = (*s)[:n]
	return nil
}

// Room is [Grow] of a result that has an item for each of a batch; where is what the
// error begins with.
func Room[T any](where string, s *[]T, n int) error {
	if err := Grow(s, n); err != nil {
		return fmt.Errorf("%s: room for a batch of %d: %w", where, n, err)
	}
	return nil
}

// Extend makes s longer by n elements, whose values are undefined, and keeps those before
// them. It allocates room for more, so that many short extensions take time in proportion
// to their sum. Errors are those of [Grow], where there is no room for an eighth more
// either.
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
