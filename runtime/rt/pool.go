package rt

import (
	"context"
	"runtime"
	"sync"
)

// Pool holds the sessions that a model's Forward uses. It opens them on demand, up to a limit. It
// hands out the session used last, because its memory is most likely in a cache. If all are in use
// and the limit is reached, callers wait. So memory does not grow with the number of goroutines.
type Pool[S interface{ SetContext(context.Context) }] struct {
	open func() (S, error)
	out  chan struct{} // one element per session in use

	mu   sync.Mutex
	idle []S
}

// NewPool returns a pool with at most `limit` sessions in use at once, or GOMAXPROCS if limit is
// not above 0. open opens a session.
func NewPool[S interface{ SetContext(context.Context) }](limit int, open func() (S, error)) *Pool[S] {
	if limit <= 0 {
		limit = runtime.GOMAXPROCS(0)
	}
	return &Pool[S]{open: open, out: make(chan struct{}, limit)}
}

// Get returns a session for exclusive use until Put. Calls of the session end when ctx is done.
// While all sessions are in use, Get waits for one, or until ctx is done. A nil ctx is never done.
// It returns an error if ctx is done, with its cause, or if a session cannot be opened.
func (p *Pool[S]) Get(ctx context.Context) (S, error) {
	s, err := p.get(ctx)
	if err == nil {
		s.SetContext(ctx)
	}
	return s, err
}

func (p *Pool[S]) get(ctx context.Context) (S, error) {
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

// Put takes back a session that Get returned, and removes its context.
func (p *Pool[S]) Put(s S) {
	s.SetContext(nil) //lint:ignore SA1012 nil stands for no context
	p.mu.Lock()
	p.idle = append(p.idle, s)
	p.mu.Unlock()
	<-p.out
}
