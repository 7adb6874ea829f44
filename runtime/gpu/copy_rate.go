package gpu

import (
	"errors"
	"math"
	"time"
)

const (
	// A copy of maxYardstick bytes measures the memory rate of the device. It does not fit in the caches of the
	// device. If there is too little memory for it, smaller copies are tried, down to minYardstick bytes.
	maxYardstick, minYardstick = 128 << 20, 1 << 20
	// yardsticks is the number of copies that are measured.
	yardsticks = 5
)

// CopyRate measures how fast the device of a model copies its own memory. The rate is in bytes per nanosecond, and
// counts each byte twice: it is read and written. The best of several copies counts. CopyRate returns an error that
// wraps [ErrNoClock] if the device has no clock, and one that wraps [ErrMemory] if there is no memory for a copy.
// It also returns the errors of [Instance.Open]. Call it before Begin.
func (w *Watch) CopyRate(i *Instance) (rate float64, err error) {
	d, err := i.Open()
	if err != nil {
		return 0, err
	}
	opened, err := d.Queue()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	q, ok := opened.(Timed)
	if !ok {
		return 0, ErrNoClock
	}
	if err := w.hold.open(d, q); err != nil {
		return 0, err
	}
	for bytes := maxYardstick; ; bytes /= 2 {
		to, from, err := pair(d, bytes)
		if errors.Is(err, ErrMemory) && bytes > minYardstick {
			continue
		}
		if err != nil {
			return 0, err
		}
		least, err := leastCopy(q, to, from, bytes)
		d.Free(to)
		d.Free(from)
		return 2 * float64(bytes) / float64(least), err
	}
}

// leastCopy copies `bytes` bytes several times and returns the shortest time of a copy. A time below 1 ns counts as 1
// ns. It first makes one unmeasured copy in each direction, because a driver may allocate memory only when the memory
// is first written.
func leastCopy(q Timed, to, from Address, bytes int) (time.Duration, error) {
	if err := errors.Join(q.Copy(to, from, bytes), q.Copy(from, to, bytes), q.Stamp()); err != nil {
		return 0, err
	}
	for range yardsticks {
		if err := errors.Join(q.Copy(to, from, bytes), q.Stamp()); err != nil {
			return 0, err
		}
	}
	readings, err := q.Stamps()
	if err != nil {
		return 0, err
	}
	least := time.Duration(math.MaxInt64)
	for i := range readings[1:] {
		least = min(least, readings[i+1]-readings[i])
	}
	return max(least, 1), nil
}
