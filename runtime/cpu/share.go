package cpu

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// slot is where one operator of a kind lies while the workers of the pool share it, so
// that sharing needs no allocation.
type slot[T any, P interface {
	*T
	rt.Task
}] struct {
	taken atomic.Bool
	task  T
}

// run does the parts of a task on the pool. It does nothing and returns false where there
// is only one part or another operator of the kind has the slot. It panics with what
// a part panicked with.
func (s *slot[T, P]) run(task *T, parts int) bool {
	if parts <= 1 || !s.taken.CompareAndSwap(false, true) {
		return false
	}
	s.task = *task
	s.end(rt.Run(P(&s.task), parts))
	return true
}

// partNS is how many nanoseconds a part takes, or so, of a task that ends with a context.
var partNS int64 = 1e6

// runUntil is run of a task of so many nanoseconds that ends with ctx: it has parts of
// about a millisecond, between which the workers look at ctx. It returns how many parts the
// caller has to do, all or none. See [rt.EndIfDone].
func (s *slot[T, P]) runUntil(ctx context.Context, task *T, ns int64) (parts int) {
	parts = rt.Parts(ns)
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

// end empties the slot. It panics with what a part panicked with.
func (s *slot[T, P]) end(err error) {
	var none T
	s.task = none // or it would keep its operands alive
	s.taken.Store(false)
	if err != nil {
		panic(err)
	}
}

// portion is the i-th of parts runs of n neighbouring units.
func portion(n, i, parts int) (from, to int) {
	if parts == 1 {
		return 0, n
	}
	return int(int64(n) * int64(i) / int64(parts)), int(int64(n) * int64(i+1) / int64(parts))
}

// partsFor is how many parts are worth it for a number of multiply-adds and of bytes read
// from memory.
func partsFor(multiplyAdds, bytes int64) int { return rt.Parts(nanoseconds(multiplyAdds, bytes)) }

// nanoseconds is how long a core takes for a number of multiply-adds and of bytes read from
// memory.
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
	}
	return max(multiplyAdds/perNS, bytes/bytesPerNS)
}

// unseen returns p in a way that lets it stay on the stack although it is passed to a
// function that the compiler does not know, which must not keep it.
//
// Nothing may move the stack while the address is a number: a check of pointers,
// which the race detector turns on, would.
//
//go:nosplit
//go:nocheckptr
func unseen[T any](p *T) *T {
	address := uintptr(unsafe.Pointer(p))
	return *(**T)(unsafe.Pointer(&address))
}

// onHeap returns s in a way that does not make the caller's array escape: it is for
// slices so long that they are on the heap already. See [unseen].
//
//go:nosplit
//go:nocheckptr
func onHeap[T any](s []T) []T {
	address := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	return unsafe.Slice(*(**T)(unsafe.Pointer(&address)), len(s))
}
