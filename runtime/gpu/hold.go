package gpu

import (
	"errors"
	"time"
)

// hold keeps the device busy with copies while the host puts work on the queue. The work is then done without a
// break, as in a recording.
type hold struct {
	to, from Address
	copy     time.Duration // the time of a copy; 0 if hold is not open or there is no memory
}

const (
	// holdBytes is the size of a copy.
	holdBytes = 16 << 20
	// maxHold is the longest time that the device is kept busy.
	maxHold = 20 * time.Millisecond
)

// put puts copies on a queue that together take at least length, or maxHold if length is greater. It does nothing if
// there is no memory for the copies.
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

// open allocates the memory for the copies and measures one, unless that has been done. If there is no memory, the
// device is not kept busy.
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
	h.copy, err = leastCopy(q, h.to, h.from, holdBytes)
	return err
}

// pair allocates two pieces of device memory of this many bytes, or none.
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

// spans are the times in which the host puts work on the queue, from one wait to the next. An idle device would wait
// for the host between two launches.
type spans struct {
	times  []time.Duration // the longest of earlier calls, by the number of the span
	number int
	idle   bool // the device has nothing to do
	waited bool // no clock was read since the last wait
	from   time.Time
}

func (s *spans) begin() { s.number, s.idle, s.waited = 0, true, true }

// expected returns the longest time that the next span took in earlier calls, or 0 if no call had this span.
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
