package rt

import (
	"sync"
	"sync/atomic"
)

// Prepared holds the weights of a source model, and their packed form, which kernels read. It
// computes the packed form on first use, so that a program that only trains does not compute it.
// All methods are safe for use by several goroutines at once.
type Prepared[T any] struct {
	raw     *Weights
	prepare func(raw *Weights) (*T, error)

	mu    sync.Mutex // held while preparing
	ready atomic.Pointer[T]
}

// NewPrepared returns weights whose packed form is computed by prepare. raw must stay open.
func NewPrepared[T any](raw *Weights, prepare func(raw *Weights) (*T, error)) *Prepared[T] {
	return &Prepared[T]{raw: raw, prepare: prepare}
}

// NewReady returns weights that have only the packed form: Raw returns nil.
func NewReady[T any](t *T) *Prepared[T] {
	p := &Prepared[T]{}
	p.ready.Store(t)
	return p
}

// Set sets the packed form, which was computed earlier from the same weights. If t is nil, prepare
// computes it on first use.
func (p *Prepared[T]) Set(t *T) { p.ready.Store(t) }

// Raw returns the weights of the source model, unpacked, or nil if p comes from [NewReady].
func (p *Prepared[T]) Raw() *Weights { return p.raw }

// Get returns the packed form. The first call computes it, and concurrent calls wait. It returns
// the errors of the weights and of prepare, and a panic of prepare as an error. After an error the
// next call tries again.
func (p *Prepared[T]) Get() (*T, error) {
	if t := p.ready.Load(); t != nil {
		return t, nil
	}
	return p.compute()
}

func (p *Prepared[T]) compute() (t *T, err error) {
	defer Recover("weights", &err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.ready.Load(); t != nil {
		return t, nil
	}
	if err := p.raw.Err(); err != nil {
		return nil, err
	}
	t, err = p.prepare(p.raw.Fork())
	if err != nil {
		return nil, err
	}
	p.ready.Store(t)
	return t, nil
}

// Replace computes the packed form of p if the packed form of `old` has been computed. When p
// replaces `old` in a model, callers then do not wait for packing.
func (p *Prepared[T]) Replace(old *Prepared[T]) error {
	if old.ready.Load() == nil {
		return nil
	}
	_, err := p.Get()
	return err
}
