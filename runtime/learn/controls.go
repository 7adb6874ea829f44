package learn

import (
	"context"
	"sync"
)

// controls implements [Controls] for a run.
type controls struct {
	mu      sync.Mutex
	save    bool
	finish  bool
	drop    bool // training since the last checkpoint is dropped
	paused  bool
	changed chan struct{} // closed when something is asked for
	asked   <-chan struct{}
}

func newControls(ctx context.Context) *controls {
	return &controls{changed: make(chan struct{}), asked: interrupts(ctx)}
}

func (c *controls) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	close(c.changed)
	c.changed = make(chan struct{})
}

// Save implements [Controls].
func (c *controls) Save() { c.change(func() { c.save = true }) }

// Pause implements [Controls].
func (c *controls) Pause(pause bool) { c.change(func() { c.paused = pause }) }

// Finish implements [Controls].
func (c *controls) Finish(save bool) { c.change(func() { c.finish, c.drop = true, !save }) }

// interrupted reports whether the run has to end after the current step.
func (c *controls) interrupted() bool {
	select {
	case <-c.asked:
		return true
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.finish
}

// drops reports whether the run ends without saving the training since the last checkpoint.
func (c *controls) drops() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drop
}

// wait waits while the run is paused. It returns true if a checkpoint was requested: the caller
// saves it and calls wait again. It returns false if the run goes on or has to end.
func (c *controls) wait(ctx context.Context) (save bool) {
	for {
		c.mu.Lock()
		save, c.save = c.save, false
		paused, changed := c.paused && !c.finish, c.changed
		c.mu.Unlock()
		if save || !paused {
			return save
		}
		select {
		case <-changed:
		case <-c.asked:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
