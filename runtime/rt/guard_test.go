package rt

import (
	"context"
	"errors"
	"testing"
)

func TestGuard(t *testing.T) {
	var g Guard
	wantError(t, g.Enter(), "")
	if err := g.Enter(); err != ErrBusy {
		t.Errorf("a second call: %v", err)
	}
	g.Leave()
	wantError(t, g.Enter(), "")
}

func TestDone(t *testing.T) {
	wantError(t, Done(nil), "") //lint:ignore SA1012 nil stands for no context
	wantError(t, Done(context.Background()), "")
	ctx, cancel := context.WithCancelCause(context.Background())
	wantError(t, Done(ctx), "")
	cause := errors.New("cause")
	cancel(cause)
	if err := Done(ctx); err != cause {
		t.Error(err)
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
