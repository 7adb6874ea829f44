package images

import "sync"

// pool holds values that are used again. Unlike a sync.Pool, it never gives them up.
type pool[T any] struct {
	mu   sync.Mutex
	free []*T
}

// get returns a value that nobody else uses.
func (p *pool[T]) get() *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free) - 1
	if last < 0 {
		return new(T)
	}
	x := p.free[last]
	p.free = p.free[:last]
	return x
}

// put takes back a value.
func (p *pool[T]) put(x *T) {
	p.mu.Lock()
	p.free = append(p.free, x)
	p.mu.Unlock()
}
