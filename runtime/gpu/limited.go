package gpu

import (
	"fmt"
	"sync"
)

type limited struct {
	Opened
	limit int64

	mu   sync.Mutex
	used int64
	// size in bytes of each allocation
	taken map[Address]int64
}

// Alloc implements [Opened]. It also returns an error that wraps [ErrMemory] if the bytes would
// exceed the limit.
func (l *limited) Alloc(bytes int64) (Address, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if left := l.limit - l.used; bytes > left {
		return 0, fmt.Errorf("%w: %d bytes are wanted, %d are left of the %d of gpu.Memory", ErrMemory, bytes, left, l.limit)
	}
	at, err := l.Opened.Alloc(bytes)
	if err == nil {
		l.used += bytes
		l.taken[at] = bytes
	}
	return at, err
}

// Free implements [Opened]. It counts the bytes of the memory as available.
func (l *limited) Free(at Address) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Opened.Free(at)
	l.used -= l.taken[at]
	delete(l.taken, at)
}
