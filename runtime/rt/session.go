package rt

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Guard lets one call at a time into a session. The zero value is open.
type Guard struct{ busy atomic.Bool }

// Enter returns [ErrBusy] if a call is inside. Else the call is, until Leave.
func (g *Guard) Enter() error {
	if !g.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	return nil
}

// Leave opens the guard again. Deferring it also keeps the session that holds
// the guard alive to the end of the call.
func (g *Guard) Leave() { g.busy.Store(false) }

// Done returns the cause if ctx is cancelled, nil if it is not or is nil.
func Done(ctx context.Context) error {
	if ctx == nil || ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// EndIfDone ends a call of a generated method where ctx is done: it panics with what
// [Recover] makes the call's error, the cause. A nil ctx never is done.
func EndIfDone(ctx context.Context) {
	if err := Done(ctx); err != nil {
		panic(ended{err})
	}
}

// ended is what EndIfDone panics with.
type ended struct{ error }

// Pool holds the sessions behind a model's Forward. It opens them as they are
// needed, up to a limit, and hands out the one used last, whose memory is
// likeliest in a cache. Callers beyond the limit wait: memory does not grow with
// the number of goroutines.
type Pool[S any] struct {
	open func() (S, error)
	out  chan struct{} // one element per session in use

	mu   sync.Mutex
	idle []S
}

// NewPool returns a pool of at most limit sessions in use at once, GOMAXPROCS of
// them if limit is not above 0.
func NewPool[S any](limit int, open func() (S, error)) *Pool[S] {
	if limit <= 0 {
		limit = runtime.GOMAXPROCS(0)
	}
	return &Pool[S]{open: open, out: make(chan struct{}, limit)}
}

// Get returns a session that nobody else has until it is put back. While all are
// in use it waits for one, or for the end of ctx, which may be nil. Errors: the cause of
// that end, and why no session can be opened.
func (p *Pool[S]) Get(ctx context.Context) (S, error) {
	var none S
	if ctx == nil {
		ctx = context.Background()
	}
	if err := Done(ctx); err != nil {
		return none, err
	}
	select {
	case p.out <- struct{}{}:
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	p.mu.Lock()
	if last := len(p.idle) - 1; last >= 0 {
		s := p.idle[last]
		p.idle[last] = none
		p.idle = p.idle[:last]
		p.mu.Unlock()
		return s, nil
	}
	p.mu.Unlock()
	opened := false
	defer func() {
		if !opened {
			<-p.out
		}
	}()
	s, err := p.open()
	opened = err == nil
	return s, err
}

// Put takes back a session that Get returned.
func (p *Pool[S]) Put(s S) {
	p.mu.Lock()
	p.idle = append(p.idle, s)
	p.mu.Unlock()
	<-p.out
}
