package rt

import (
	"sync"
	"sync/atomic"
)

// Prepared are the weights of a source model, and what kernels read, which is made of them
// when it is first asked for: a program that trains and never infers does without. All
// methods may be called from several goroutines at once.
type Prepared[T any] struct {
	raw     *Weights
	prepare func(raw *Weights) (*T, error)

	mu    sync.Mutex // of who prepares
	ready atomic.Pointer[T]
}

// NewPrepared returns weights of which prepare makes what kernels read. Nobody closes raw.
func NewPrepared[T any](raw *Weights, prepare func(raw *Weights) (*T, error)) *Prepared[T] {
	return &Prepared[T]{raw: raw, prepare: prepare}
}

// Set gives p what kernels read, made of the same weights before. A nil t is none.
func (p *Prepared[T]) Set(t *T) { p.ready.Store(t) }

// Raw returns the weights as the source model has them.
func (p *Prepared[T]) Raw() *Weights { return p.raw }

// Get returns what kernels read. The first call makes it, and others wait for that. Errors
// are those of the weights and of what makes it; the next call tries again.
func (p *Prepared[T]) Get() (*T, error) {
	if t := p.ready.Load(); t != nil {
		return t, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.ready.Load(); t != nil {
		return t, nil
	}
	if err := p.raw.Err(); err != nil {
		return nil, err
	}
	t, err := p.prepare(p.raw.Fork())
	if err != nil {
		return nil, err
	}
	p.ready.Store(t)
	return t, nil
}

// Replace prepares p if what it takes the place of has been: who calls a model that is
// given other weights does not wait for them.
func (p *Prepared[T]) Replace(old *Prepared[T]) error {
	if old.ready.Load() == nil {
		return nil
	}
	_, err := p.Get()
	return err
}
