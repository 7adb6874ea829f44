package learn

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// ErrInterrupted is the cause with which a context of [Interruptible] ends.
var ErrInterrupted = errors.New("interrupted")

// interruptKey is a key of context values. The value is a channel that the first signal closes.
type interruptKey struct{}

// grace is the time that a program has to end after the second signal. Then the signal ends it.
const grace = time.Second

// Interruptible returns a context for [Learner.Fit] that reacts to Ctrl-C and SIGTERM. After the
// first signal, Fit ends with the step that is under way, saves, and returns without an error, so
// that the program goes on. The second signal ends the context with [ErrInterrupted], and Fit
// returns at once. If the program has not ended one second later, the signal ends it. After a call of the function
// `stop`, signals have their usual effect again.
func Interruptible(parent context.Context) (ctx context.Context, stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, release := interruptible(parent, signals, func(s os.Signal) {
		signal.Stop(signals) // from now on a signal ends the program
		time.Sleep(grace)
		if self, err := os.FindProcess(os.Getpid()); err != nil || self.Signal(s) != nil {
			os.Exit(1) // Windows does not send signals
		}
	})
	return ctx, func() {
		signal.Stop(signals)
		release()
	}
}

// interruptible returns a context for [Interruptible]. The first signal closes the channel of
// [interrupts], and the second one cancels the context and calls the function `end`.
func interruptible(parent context.Context, signals <-chan os.Signal, end func(os.Signal)) (ctx context.Context, stop func()) {
	asked := make(chan struct{})
	inner, cancel := context.WithCancelCause(context.WithValue(parent, interruptKey{}, (<-chan struct{})(asked)))
	ended := make(chan struct{})
	go func() {
		select {
		case <-signals:
		case <-ended:
			return
		}
		close(asked)
		select {
		case s := <-signals:
			cancel(ErrInterrupted)
			end(s)
		case <-ended:
		}
	}()
	return inner, sync.OnceFunc(func() {
		close(ended)
		cancel(context.Canceled)
	})
}

// interrupts returns the channel that the first signal closes, or nil if ctx is not from
// [Interruptible].
func interrupts(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(interruptKey{}).(<-chan struct{})
	return c
}
