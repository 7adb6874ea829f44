package serve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/untyped"
)

// instance is a loaded model: its sessions, and the requests that wait for them.
type instance struct {
	name    string
	served  rt.Served
	methods []*untyped.Method
	options *Options
	queue   *queue
	states  *sequences // nil for a model without states
	meter   *meter
	workers sync.WaitGroup
	ended   chan struct{} // closed when all workers have ended
}

// newInstance opens the sessions of a model. It runs each method once, so that the first request
// is not slower than later ones. It returns an error if the generated package does not match its
// description, `served`.
func newInstance(name string, served rt.Served, o *Options, m *meter) (*instance, error) {
	if served.Open == nil || len(served.Methods) == 0 {
		return nil, fmt.Errorf("model %q has no methods that can be served", name)
	}
	i := &instance{name: name, served: served, options: o, queue: newQueue(o.MaxQueue), meter: m, ended: make(chan struct{})}
	stateful := false
	for k, s := range served.Methods {
		label := name
		if k > 0 {
			label += "." + s.Name
		}
		m, err := untyped.NewMethod(label, s)
		if err != nil {
			return nil, err
		}
		stateful = stateful || m.Stateful
		i.methods = append(i.methods, m)
	}
	var sessions []*untyped.Session
	for range o.Sessions {
		s, err := i.open()
		if err != nil {
			return nil, err
		}
		if err := i.warm(s); err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
	}
	if stateful {
		i.states = &sequences{limit: o.MaxSequences, live: o.SequenceTTL, open: i.open, byID: map[string]*sequence{}}
		go i.states.sweep(i.ended)
	}
	for _, s := range sessions {
		i.workers.Go(func() { i.work(s) })
	}
	return i, nil
}

func (i *instance) open() (*untyped.Session, error) {
	s, err := i.served.Open()
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", i.name, err)
	}
	return untyped.Bind(s, i.methods)
}

// warm computes each method with zeros, for one item and for the largest batch. It skips methods
// whose shapes are not known. It returns an error only for a panic; other errors depend on the
// inputs.
func (i *instance) warm(s *untyped.Session) error {
	for _, m := range i.methods {
		sizes := []int{1}
		if m.Batch && i.options.MaxBatch > 1 {
			sizes = append(sizes, i.options.MaxBatch)
		}
		for _, n := range sizes {
			in, ok := zeros(m, n)
			if !ok {
				continue
			}
			_, err := s.Run(context.Background(), m, in)
			var defect *rt.PanicError
			if errors.As(err, &defect) {
				return fmt.Errorf("model %q: %w", m.Label, err)
			}
		}
		if m.Stateful {
			s.Reset()
		}
	}
	return nil
}

// maxWarm is the largest size in bytes of an input that warms a session. A method is not warmed
// with larger inputs.
const maxWarm = 64 << 20

// zeros returns inputs of n items. It returns false if a shape is not known or an input exceeds
// maxWarm.
func zeros(m *untyped.Method, n int) ([]untyped.Tensor, bool) {
	in := make([]untyped.Tensor, len(m.In))
	for k, p := range m.In {
		shape := make([]int, len(p.Extents))
		for d, extent := range p.Extents {
			switch {
			case extent >= 0:
				shape[d] = extent
			case m.Batch && d == 0:
				shape[d] = n
			default:
				return nil, false
			}
		}
		count, err := untyped.Elements(shape, p.Size)
		if err != nil || count*max(1, p.Size) > maxWarm {
			return nil, false
		}
		in[k] = untyped.Tensor{Port: p, Shape: shape}
		if p.IsText() {
			in[k].Texts = make([]string, count)
		} else {
			in[k].Data = untyped.Alloc(count * p.Size)
		}
	}
	return in, true
}

// work computes batches with session s until the queue is closed and empty.
func (i *instance) work(s *untyped.Session) {
	for {
		batch, why := i.queue.take(i.options.MaxBatch, i.options.MaxDelay)
		if batch == nil {
			return
		}
		i.compute(s, batch, why)
	}
}

// compute computes a batch with session s and ends its requests. why is the reason for which the
// batch did not wait for more requests; it is counted in the metrics. If a batch of several
// requests fails, compute computes each request alone, so that a request does not fail because of
// another.
func (i *instance) compute(s *untyped.Session, batch []*job, why reason) {
	items, start := 0, time.Now()
	for _, j := range batch {
		items += j.items
	}
	i.meter.batch(i.name, why, items)
	for _, j := range batch {
		j.waited, j.batch = start.Sub(j.queued), items
	}
	out, err := i.run(s, batch)
	if err != nil && len(batch) > 1 {
		for _, j := range batch {
			out, err := i.run(s, []*job{j})
			j.computed = time.Since(start)
			j.end(out, err)
		}
		return
	}
	at := 0
	for _, j := range batch {
		j.computed = time.Since(start)
		switch {
		case err != nil || len(batch) == 1:
			if j.sequence != nil {
				i.queue.release(j.sequence)
			}
			j.end(out, err)
		default:
			j.end(part(out, at, at+j.items), nil)
		}
		at += j.items
	}
}

// run computes a batch. It uses session s or, if the requests belong to a sequence, the session
// of the sequence.
func (i *instance) run(s *untyped.Session, batch []*job) (results []untyped.Tensor, err error) {
	j := batch[0]
	defer rt.Recover(j.method.Label, &err)
	ctx, stop := together(batch)
	defer stop()
	if err := rt.Done(ctx); err != nil {
		return nil, err
	}
	switch {
	case j.sequence != nil:
		s = j.sequence.session
	case j.method.Stateful:
		s.Reset()
	}
	out, err := s.Run(ctx, j.method, join(batch))
	if err != nil || len(batch) == 1 {
		return out, err
	}
	items := 0
	for _, j := range batch {
		items += j.items
	}
	for k := range out {
		if len(out[k].Shape) == 0 || out[k].Shape[0] != items {
			return nil, fmt.Errorf("output %q has shape %v for a batch of %d", out[k].Port.Name, out[k].Shape, items)
		}
	}
	return out, nil
}

func (i *instance) infer(ctx context.Context, q *request, client string) (*job, error) {
	j := newJob(ctx, q, client)
	if q.sequence.id != "" {
		if i.states == nil || !q.method.Stateful {
			return nil, badRequest("model %q keeps no states: it has no sequences", q.method.Label)
		}
		s, err := i.states.get(q.sequence)
		if err != nil {
			return nil, err
		}
		defer i.states.release(s)
		j.sequence = s
	}
	if !i.queue.push(j) {
		return nil, errClosed
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if i.queue.remove(j) {
			return j, context.Cause(ctx)
		}
		<-j.done // its session ends early
	}
	return j, j.err
}

// errClosed is the error of an instance that accepts no more requests.
var errClosed = errors.New("the model is not loaded any more")

// swap replaces the weights of a model by the weights in a file. Requests that run keep the old
// weights.
func swap(served rt.Served, path string) error {
	w := rt.OpenWeightsFile(path)
	defer w.Close()
	if err := w.Err(); err != nil {
		return err
	}
	return served.Swap(w)
}

// close makes the instance refuse new requests. Requests that wait are still computed. i.ended is
// closed after the last one.
func (i *instance) close() {
	i.queue.close()
	go func() {
		i.workers.Wait()
		close(i.ended)
	}()
}
