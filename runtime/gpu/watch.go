package gpu

import (
	"fmt"
	"time"
)

// Watch measures the calls of a session on the clock of the device. The option [Watched] gives it to a model. While
// it measures, between Begin and End, only one session of the model may be in use. The zero value is ready to use.
type Watch struct {
	running bool
	each    bool
	clock   Timed // of the call's queue; nil until something is measured
	err     error // the first error of the clock

	events []Event
	marks  []int // for each reading, the index of the event that ended then, or -1

	lapped  int           // events before the last lap
	outside time.Duration // time since the last lap in which the queue was not in use
	since   time.Time     // the last lap, or the last use of the queue

	hold  hold
	spans spans
}

// Work is a kind of work of a call.
type Work uint8

// The kinds of work.
const (
	Launched   Work = iota // a kernel
	Copied                 // a copy on the device
	Uploaded               // a copy to the device, with the time that the host takes to pass the data
	Downloaded             // a copy to the host, without the time that the host takes to receive the data
	Replayed               // all recorded work of a call
	Hosted                 // a step of the host, on the clock of the host
)

// Event is some work of a call.
type Event struct {
	Work   Work
	Kernel string // name of the kernel, for Launched
	Bytes  int    // number of bytes that are copied, or 0
	Step   int    // number of the lap that follows, or -1
	Time   time.Duration
}

// Watched is an option for the model that w measures.
func Watched(w *Watch) Option {
	return func(s *settings) error {
		s.watch = w
		return nil
	}
}

// Begin begins to measure. If `each` is true, the next calls do not replay recordings, and each launch, copy and
// step of the host is an event. If it is false, each replay of a recording is an event, and nothing else is.
func (w *Watch) Begin(each bool) {
	if each != w.each {
		w.spans = spans{}
	}
	w.running, w.each, w.clock, w.err = true, each, nil, nil
	w.events, w.marks, w.lapped = nil, nil, 0
	w.outside, w.since = 0, time.Now()
	w.spans.begin()
}

// Lap ends a step of a schedule. It marks the step's events with the number of the step. If the step did not use the
// device, Lap adds an event for a step of the host. The event's duration is the time since the last lap, without the
// times when the queue was in use.
func (w *Watch) Lap(step int) {
	if !w.isOn(Hosted) {
		return
	}
	now, onDevice := time.Now(), false
	for i := w.lapped; i < len(w.events); i++ {
		e := &w.events[i]
		e.Step = step
		onDevice = onDevice || e.Work == Launched || e.Work == Copied
	}
	if !onDevice {
		w.events = append(w.events, Event{Work: Hosted, Step: step, Time: w.outside + now.Sub(w.since)})
	}
	w.lapped, w.outside, w.since = len(w.events), 0, now
}

// End ends the measurement and returns the events in the order in which they were put on the queue. It returns the
// errors of the clock.
func (w *Watch) End() ([]Event, error) {
	w.running = false
	if w.err != nil || w.clock == nil {
		return w.events, w.err
	}
	readings, err := w.clock.Stamps()
	if err != nil {
		return nil, err
	}
	if len(readings) != len(w.marks) {
		return nil, fmt.Errorf("%d readings of the device's clock, want %d", len(readings), len(w.marks))
	}
	for i, event := range w.marks {
		if event >= 0 {
			w.events[event].Time = readings[i] - readings[i-1]
		}
	}
	return w.events, nil
}

// isOn reports whether work of this kind is measured now.
func (w *Watch) isOn(work Work) bool { return w.running && w.each != (work == Replayed) }

// stamp reads the clock after the event with index `event`. An index of -1 means that it reads the clock before an
// event.
func (w *Watch) stamp(event int) {
	if w.err == nil {
		w.err = w.clock.Stamp()
	}
	if w.err == nil {
		w.marks = append(w.marks, event)
	}
}
