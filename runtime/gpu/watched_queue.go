package gpu

import (
	"context"
	"time"
)

// watchedQueue is a queue whose work is measured by a watch.
type watchedQueue struct {
	Queue
	watch *Watch
}

// measure calls the function `put`, which queues the work of event e. If the watch measures such work, measure also
// reads the clock before and after the work. If the last reading was directly before the work, measure omits the
// first of these two readings.
func (q watchedQueue) measure(e Event, put func() error) error {
	w := q.watch
	if !w.isOn(e.Work) {
		return put()
	}
	w.outside += time.Since(w.since)
	defer func() { w.since = time.Now() }()
	if w.clock == nil && w.err == nil {
		timed, ok := q.Queue.(Timed)
		if !ok {
			w.err = ErrNoClock
		}
		w.clock = timed
	}
	switch {
	case w.spans.idle && e.Work != Uploaded && e.Work != Downloaded:
		if err := w.hold.put(q.Queue, w.spans.expected()); err != nil {
			return err
		}
		w.spans.start()
		w.stamp(-1)
	case len(w.marks) == 0 || w.spans.waited:
		w.stamp(-1)
	}
	w.spans.waited = false
	if err := put(); err != nil {
		return err
	}
	e.Step = -1
	w.events = append(w.events, e)
	w.stamp(len(w.events) - 1)
	return nil
}

func (q watchedQueue) Upload(to Address, from []byte) error {
	return q.measure(Event{Work: Uploaded, Bytes: len(from)}, func() error { return q.Queue.Upload(to, from) })
}

func (q watchedQueue) Download(to []byte, from Address) error {
	return q.measure(Event{Work: Downloaded, Bytes: len(to)}, func() error { return q.Queue.Download(to, from) })
}

func (q watchedQueue) Copy(to, from Address, bytes int) error {
	return q.measure(Event{Work: Copied, Bytes: bytes}, func() error { return q.Queue.Copy(to, from, bytes) })
}

func (q watchedQueue) Launch(k Kernel, grid [3]int, args []uint64) error {
	name := ""
	if n, ok := k.(namedKernel); ok {
		k, name = n.Kernel, n.name
	}
	return q.measure(Event{Work: Launched, Kernel: name}, func() error { return q.Queue.Launch(k, grid, args) })
}

// Record implements [Queue]. fill gets a queue that accepts the same kernels but does not
// measure.
func (q watchedQueue) Record(fill func(Queue) error) (Graph, error) {
	return q.Queue.Record(func(recorder Queue) error { return fill(watchedQueue{recorder, &Watch{}}) })
}

func (q watchedQueue) Replay(g Graph) error {
	return q.measure(Event{Work: Replayed}, func() error { return q.Queue.Replay(g) })
}

func (q watchedQueue) Wait(ctx context.Context) error {
	if !q.watch.running {
		return q.Queue.Wait(ctx)
	}
	q.watch.spans.end()
	err := q.Queue.Wait(ctx)
	q.watch.outside, q.watch.since = 0, time.Now()
	return err
}

// namedKernel is a kernel of a watched model, with its name.
type namedKernel struct {
	Kernel
	name string
}
