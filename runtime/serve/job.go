package serve

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
)

// job is a request that waits for a session or is being computed.
type job struct {
	ctx    context.Context
	method *method
	client string
	in     []tensor
	// size of the batch axis, 1 for a method without one
	items    int
	sequence *sequence
	queued   time.Time

	done  chan struct{} // closed when out and err are set
	ended atomic.Bool
	out   []tensor
	err   error

	waited, computed time.Duration
	// number of items in the batch that included the job
	batch int
}

func newJob(ctx context.Context, q *request, client string) *job {
	j := &job{ctx: ctx, method: q.method, client: client, in: q.in, items: 1, done: make(chan struct{})}
	if q.method.batch && len(q.in) > 0 {
		j.items = q.in[0].shape[0]
	}
	return j
}

// end sets the outcome. Later calls have no effect.
func (j *job) end(out []tensor, err error) {
	if j.ended.CompareAndSwap(false, true) {
		j.out, j.err = out, err
		close(j.done)
	}
}

// canJoin reports whether j may share a batch with other requests.
func (j *job) canJoin() bool { return j.method.batch && j.sequence == nil && len(j.in) > 0 }

// joins reports whether j and other can be in one batch: their inputs have the same shapes, apart
// from the number of items.
func (j *job) joins(other *job) bool {
	if j.method != other.method || !j.canJoin() || !other.canJoin() {
		return false
	}
	for i := range j.in {
		if !slices.Equal(j.in[i].shape[1:], other.in[i].shape[1:]) {
			return false
		}
	}
	return true
}

// join concatenates the inputs of a batch's requests.
func join(batch []*job) []tensor {
	if len(batch) == 1 {
		return batch[0].in
	}
	out := make([]tensor, len(batch[0].in))
	for i := range out {
		x := &out[i]
		x.port, x.shape = batch[0].in[i].port, slices.Clone(batch[0].in[i].shape)
		size := 0
		x.shape[0] = 0
		for _, j := range batch {
			x.shape[0] += j.items
			size += len(j.in[i].data)
			x.texts = append(x.texts, j.in[i].texts...)
		}
		x.data = alloc(size)
		at := 0
		for _, j := range batch {
			at += copy(x.data[at:], j.in[i].data)
		}
	}
	return out
}

// part returns items [from, to) of the results of a batch.
func part(out []tensor, from, to int) []tensor {
	parts := make([]tensor, len(out))
	for i := range out {
		parts[i] = out[i].items(from, to)
	}
	return parts
}

// together returns a context for a batch. It is done once the contexts of all requests of the
// batch are done. stop releases its resources.
func together(batch []*job) (ctx context.Context, stop func()) {
	if len(batch) == 1 {
		return batch[0].ctx, func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(batch[0].ctx))
	var left atomic.Int32
	left.Store(int32(len(batch)))
	var stops []func() bool
	for _, j := range batch {
		stops = append(stops, context.AfterFunc(j.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
