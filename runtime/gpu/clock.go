package gpu

import (
	"errors"
	"time"
)

// Timed is a [Queue] that reads the clock of its device.
type Timed interface {
	Queue
	// Stamp reads the clock when the device has done all work that was put on the queue before. It returns
	// an error that wraps [ErrNoClock] if the device has no clock.
	Stamp() error
	// Stamps waits for the work of the queue. It returns the readings in the order of the calls of Stamp,
	// each as the time since the first one. The queue then forgets them.
	Stamps() ([]time.Duration, error)
}

// ErrNoClock means that a device does not have a clock that a queue can read.
var ErrNoClock = errors.New("the device has no clock")
