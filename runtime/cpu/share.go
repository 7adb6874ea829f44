package cpu

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// slot holds the current task of one kind while the workers of the pool compute it. The task is in
// the slot so that running it does not allocate.
type slot[T any, P interface {
	*T
	rt.Task
}] struct {
	taken atomic.Bool
	task  T
}

// run executes the parts of a task on the pool, and reports whether it did. It does nothing if
// there is only one part, or if another task uses the slot. If a part panics, run panics with a
// [rt.PanicError].
func (s *slot[T, P]) run(task *T, parts int) bool {
	if parts <= 1 || !s.taken.CompareAndSwap(false, true) {
		return false
	}
	s.task = *task
	s.end(rt.Run(P(&s.task), parts))
	return true
}

// partsEach is the number of parts for each worker, if a task can be divided into any number of
// parts.
const partsEach = 4

// finely returns the number of parts for a task that can be divided into any number of parts. It is
// 1 for one worker. Otherwise it is partsEach for each worker, so that fast workers can do some of
// the work of slow ones.
func finely(workers int) int {
	if workers == 1 {
		return 1
	}
	return workers * partsEach
}

// partNS is the approximate time in nanoseconds that a part takes, if a context can end the task.
var partNS int64 = 1e6

// runUntil is like [slot.run] for a task that takes about ns nanoseconds in total and that ctx can
// end. A part then takes about a millisecond, and workers check ctx before each part. runUntil
// returns 0 if it has run the task. Otherwise it returns the number of parts, at least 1, that the
// caller has to run itself. See [rt.EndIfDone].
func (s *slot[T, P]) runUntil(ctx context.Context, task *T, ns int64) (parts int) {
	parts = finely(rt.Parts(ns))
	if ctx == nil || ctx.Done() == nil {
		if s.run(task, parts) {
			return 0
		}
		return 1
	}
	rt.EndIfDone(ctx)
	parts *= max(1, int(ns/(int64(parts)*partNS)))
	if parts <= 1 || !s.taken.CompareAndSwap(false, true) {
		return max(1, parts)
	}
	s.task = *task
	s.end(rt.RunUntil(ctx, P(&s.task), parts))
	rt.EndIfDone(ctx)
	return 0
}

// end empties the slot after its task. err is the panic of a part or nil; if it is not nil, end
// panics with it.
func (s *slot[T, P]) end(err error) {
	var none T
	s.task = none // or it would keep its operands alive
	s.taken.Store(false)
	if err != nil {
		panic(err)
	}
}

// portion divides units 0 to n−1 evenly into `parts` parts of adjacent units. It returns the range
// [from, to) of part i.
func portion(n, i, parts int) (from, to int) {
	if parts == 1 {
		return 0, n
	}
	return int(int64(n) * int64(i) / int64(parts)), int(int64(n) * int64(i+1) / int64(parts))
}

// partsFor returns the number of parts into which the pool should divide some work. The work is
// given by its number of multiply-adds and by the number of bytes that it reads from memory.
func partsFor(multiplyAdds, bytes int64) int { return rt.Parts(nanoseconds(multiplyAdds, bytes)) }

// nanoseconds estimates the time that one core takes, from the number of multiply-adds and the
// number of bytes read from memory.
func nanoseconds(multiplyAdds, bytes int64) int64 {
	const bytesPerNS = 16
	perNS := int64(1)
	switch level {
	case AVX512:
		perNS = 64
	case AVX2:
		perNS = 32
	case NEON:
		perNS = 16
	case SIMD128:
		perNS = 8
	}
	return max(multiplyAdds/perNS, bytes/bytesPerNS)
}

// unseen returns p, hidden from escape analysis. *p can then stay on the stack although p is passed
// to a function that the compiler does not know. The function must not retain p.
//
// The stack must not move while the pointer is a uintptr, because the runtime does not adjust a
// uintptr. nosplit prevents such a move. nocheckptr prevents a check of the race detector that
// could cause one.
//
//go:nosplit
//go:nocheckptr
func unseen[T any](p *T) *T {
	address := uintptr(unsafe.Pointer(p))
	return *(**T)(unsafe.Pointer(&address))
}

// onHeap returns s, hidden from escape analysis. It must be called only for a slice that is so long
// that its array is on the heap anyway. Short arrays of the callers can then stay on the stack. See
// [unseen].
//
//go:nosplit
//go:nocheckptr
func onHeap[T any](s []T) []T {
	address := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	return unsafe.Slice(*(**T)(unsafe.Pointer(&address)), len(s))
}
