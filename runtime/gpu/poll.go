package gpu

import (
	"context"
	"runtime"
	"time"
)

// Poll calls done until it returns true or an error, and returns this error. If ctx is done before,
// Poll returns the cause of ctx. A nil ctx is never done. Drivers use Poll instead of the waiting
// functions of their libraries, because a context cannot end a waiting function, and some of these
// functions miss the end of the work.
//
// For 200 µs, which is enough for small models, Poll calls done without a break. Later it sleeps
// between two calls, for 1/16 of the time that has passed and for 1 ms at most.
func Poll(ctx context.Context, done func() (bool, error)) error {
	const spin, longest = 200 * time.Microsecond, time.Millisecond
	for start := time.Now(); ; {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if ctx != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if passed := time.Since(start); passed < spin {
			runtime.Gosched()
		} else {
			time.Sleep(min(passed/16, longest))
		}
	}
}
