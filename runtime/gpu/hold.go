package gpu

import (
	"errors"
	"time"
)

// hold keeps the device busy with dummy copies while the host queues work. Without them the device
// would be idle between two pieces of work that the host queues slowly, and a measurement would
// count that time.
type hold struct {
	to, from Address
	// duration of a copy; 0 if hold is not open or there is no memory
	copy time.Duration
}

const (
	// holdBytes is the size of a copy in bytes.
	holdBytes = 16 << 20
	// maxHold is the longest time for which [hold] keeps the device busy.
	maxHold = 20 * time.Millisecond
)

// put queues copies that keep the device busy for `length`, but at most for about maxHold. It does
// nothing if there is no memory for the copies.
func (h *hold) put(q Queue, length time.Duration) error {
	if h.copy == 0 {
		return nil
	}
	for range (min(length, maxHold) + h.copy - 1) / h.copy {
		if err := q.Copy(h.to, h.from, holdBytes); err != nil {
			return err
		}
	}
	return nil
}

// open allocates the memory for the copies and measures the time of one copy. It does nothing if it
// has done so before. It returns nil if there is not enough memory; put then does nothing.
func (h *hold) open(d Opened, q Timed) (err error) {
	if h.copy > 0 {
		return nil
	}
	if h.to, h.from, err = pair(d, holdBytes); err != nil {
		if errors.Is(err, ErrMemory) {
			err = nil
		}
		return err
	}
	if h.copy, err = leastCopy(q, h.to, h.from, holdBytes); err != nil {
		d.Free(h.to)
		d.Free(h.from)
	}
	return err
}

// pair allocates two pieces of device memory of `bytes` bytes each. If it returns an error, neither
// is allocated.
func pair(d Opened, bytes int) (to, from Address, err error) {
	if to, err = d.Alloc(int64(bytes)); err != nil {
		return 0, 0, err
	}
	if from, err = d.Alloc(int64(bytes)); err != nil {
		d.Free(to)
		return 0, 0, err
	}
	return to, from, nil
}

// spans are the times during which the host queues work. A span begins when the host queues the
// first work after a wait; uploads and downloads do not begin one. The span ends at the next wait.
// During a span a device without other work waits for the host between two launches. A [hold] gives
// it other work.
type spans struct {
	// longest time of each span in earlier calls
	times []time.Duration
	// index of the current span
	number int
	idle   bool // the device has nothing to do
	// no clock has been read since the last wait
	waited bool
	from   time.Time
}

func (s *spans) begin() { s.number, s.idle, s.waited = 0, true, true }

// expected returns the longest time of the current span in earlier calls, or 0 if no call had this
// span.
func (s *spans) expected() time.Duration {
	if s.number >= len(s.times) {
		return 0
	}
	return s.times[s.number]
}

func (s *spans) start() { s.idle, s.from = false, time.Now() }

func (s *spans) end() {
	s.waited = true
	if s.idle {
		return
	}
	took := time.Since(s.from)
	if s.number == len(s.times) {
		s.times = append(s.times, took)
	}
	s.times[s.number] = max(s.times[s.number], took)
	s.number++
	s.idle = true
}
