package rt

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

type session struct {
	id  int
	ctx context.Context
}

func (s *session) SetContext(ctx context.Context) { s.ctx = ctx }

// sessions counts what a pool opens.
type sessions struct{ n atomic.Int32 }

func (s *sessions) open() (*session, error) { return &session{id: int(s.n.Add(1))}, nil }

func TestPool(t *testing.T) {
	get := func(t *testing.T, p *Pool[*session]) *session {
		s, err := p.Get(nil) //lint:ignore SA1012 nil stands for no context
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Run("the one used last comes first", func(t *testing.T) {
		p := NewPool(3, new(sessions).open)
		a, b := get(t, p), get(t, p)
		if a == b {
			t.Fatal("one session twice")
		}
		p.Put(a)
		p.Put(b)
		if get(t, p) != b || get(t, p) != a {
			t.Error("wrong order")
		}
		if s := get(t, p); s.id != 3 {
			t.Errorf("session %d, want a third", s.id)
		}
	})
	t.Run("waits while all are out", func(t *testing.T) {
		p := NewPool(1, new(sessions).open)
		s := get(t, p)
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if _, err := p.Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		go p.Put(s)
		if get(t, p) != s {
			t.Error("another session")
		}
	})
	t.Run("a cancelled caller gets none", func(t *testing.T) {
		p := NewPool(1, new(sessions).open)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := p.Get(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		get(t, p)
	})
	t.Run("an error of open takes no place", func(t *testing.T) {
		cause := errors.New("no memory")
		fail := true
		p := NewPool(1, func() (*session, error) {
			if fail {
				return nil, cause
			}
			return &session{}, nil
		})
		for range 3 {
			if _, err := p.Get(context.Background()); err != cause {
				t.Fatal(err)
			}
		}
		fail = false
		get(t, p)
	})
	t.Run("a panic of open takes no place", func(t *testing.T) {
		fail := true
		p := NewPool(1, func() (*session, error) {
			if fail {
				panic("open")
			}
			return &session{}, nil
		})
		func() {
			defer func() { recover() }()
			p.Get(context.Background())
		}()
		fail = false
		get(t, p)
	})
	t.Run("many goroutines", func(t *testing.T) {
		var opened sessions
		p := NewPool(4, opened.open)
		var inUse [5]atomic.Int32
		var group sync.WaitGroup
		for range 32 {
			group.Go(func() {
				for range 100 {
					s, err := p.Get(context.Background())
					if err != nil {
						t.Error(err)
						return
					}
					if inUse[s.id].Add(1) != 1 {
						t.Error("two have one session")
					}
					inUse[s.id].Add(-1)
					p.Put(s)
				}
			})
		}
		group.Wait()
		if n := opened.n.Load(); n > 4 {
			t.Errorf("%d sessions opened", n)
		}
	})
	t.Run("no allocation", func(t *testing.T) {
		p := NewPool(0, new(sessions).open)
		if n := testing.AllocsPerRun(100, func() { p.Put(get(t, p)) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
