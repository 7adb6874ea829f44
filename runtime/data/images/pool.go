package images

import "sync"

// pool is a list of values that can be used again. Unlike a sync.Pool, it keeps them for ever.
type pool[T any] struct {
	mu   sync.Mutex
	free []*T
}

// get returns a free value, or a new one.
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

// put returns a value to the pool.
func (p *pool[T]) put(x *T) {
	p.mu.Lock()
	p.free = append(p.free, x)
	p.mu.Unlock()
}
