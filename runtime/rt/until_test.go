package rt

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
)

// asked is a context that ends when it has been asked a number of times whether it has.
type asked struct {
	context.Context
	left atomic.Int64
}

func endsAfter(n int64) *asked {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // so that it has a cause
	a := &asked{Context: ctx}
	a.left.Store(n)
	return a
}

func (a *asked) Err() error {
	if a.left.Add(-1) >= 0 {
		return nil
	}
	return a.Context.Err()
}

func TestRunUntil(t *testing.T) {
	for _, threads := range []int{1, 2, 8} {
		t.Run(fmt.Sprintf("%d threads", threads), func(t *testing.T) {
			cores(t, threads)
			Begin()
			defer End()
			const parts = 100
			for _, asks := range []int64{0, 1, 7, 99, 100, 1000} {
				c := newCount(parts, 100)
				if err := RunUntil(endsAfter(asks), c, parts); err != nil {
					t.Fatal(err)
				}
				done := int64(0)
				for i, n := range c.done {
					if done += int64(n); n > 1 {
						t.Errorf("part %d was done %d times", i, n)
					}
				}
				if done != min(asks, parts) {
					t.Errorf("%d parts were done of %d, by a context that ends after %d", done, parts, asks)
				}
				whole := newCount(parts, 100)
				if err := Run(whole, parts); err != nil {
					t.Fatal(err)
				}
				if err := whole.check(); err != nil {
					t.Errorf("the run after: %v", err)
				}
			}
		})
	}
}

func TestEndIfDone(t *testing.T) {
	call := func(ctx context.Context) (err error) {
		defer Recover("call", &err)
		EndIfDone(ctx)
		return nil
	}
	full := errors.New("full")
	ctx, cancel := context.WithCancelCause(context.Background())
	for _, ctx := range []context.Context{nil, context.Background(), ctx} {
		if err := call(ctx); err != nil {
			t.Error(err)
		}
	}
	cancel(full)
	if err := call(ctx); err != full {
		t.Errorf("error %v, not the cause alone", err)
	}
	if n := testing.AllocsPerRun(100, func() { EndIfDone(context.Background()) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
