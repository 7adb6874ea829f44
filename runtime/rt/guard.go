package rt

import (
	"context"
	"sync/atomic"
)

// Guard admits one call at a time to a session. The zero value admits a call.
type Guard struct{ busy atomic.Bool }

// Enter admits the call until Leave, or returns [ErrBusy] if another call is inside.
func (g *Guard) Enter() error {
	if !g.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	return nil
}

// Leave admits the next call. The deferred call of Leave also keeps the session that holds the guard
// reachable until the end of the method.
func (g *Guard) Leave() { g.busy.Store(false) }

// Done returns the cause if ctx is done, else nil. A nil ctx is never done.
func Done(ctx context.Context) error {
	if ctx == nil || ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// EndIfDone ends a call of a generated method if ctx is done. It panics, and [Recover] makes the cause
// of ctx the call's error. A nil ctx is never done.
func EndIfDone(ctx context.Context) {
	if err := Done(ctx); err != nil {
		panic(ended{err})
	}
}

type ended struct{ error }
