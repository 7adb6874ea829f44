package gpu

import (
	"context"
	"errors"
	"testing"
)

// TestPoll waits for work that ends, fails, or goes on when the context is done.
func TestPoll(t *testing.T) {
	failed, stopped := errors.New("failed"), errors.New("stopped")
	never := func() (bool, error) { return false, nil }
	// after returns a function that returns its arguments in the call with number n, counted from 0.
	after := func(n int, done bool, err error) func() (bool, error) {
		return func() (bool, error) {
			if n--; n >= 0 {
				return false, nil
			}
			return done, err
		}
	}
	ended, end := context.WithCancelCause(context.Background())
	end(stopped)
	later, cancel := context.WithTimeout(context.Background(), 2_000_000)
	defer cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		done func() (bool, error)
		want error
	}{
		{"at once", nil, after(0, true, nil), nil},
		{"at once, although the context is done", ended, after(0, true, nil), nil},
		{"later", context.Background(), after(1000, true, nil), nil},
		{"error", nil, after(3, false, failed), failed},
		{"cause", ended, never, stopped},
		{"deadline", later, never, context.DeadlineExceeded},
	} {
		if err := Poll(c.ctx, c.done); err != c.want {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}
