package serve

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/burngen/burngen/runtime/rt/untyped"
)

// job is a request that waits for a session or is being computed.
type job struct {
	ctx    context.Context
	method *untyped.Method
	client string
	in     []untyped.Tensor
	// size of the batch axis, 1 for a method without one
	items    int
	sequence *sequence
	queued   time.Time

	done  chan struct{} // closed when out and err are set
	ended atomic.Bool
	out   []untyped.Tensor
	err   error

	waited, computed time.Duration
	// number of items in the batch that included the job
	batch int
}

func newJob(ctx context.Context, q *request, client string) *job {
	j := &job{ctx: ctx, method: q.method, client: client, in: q.in, items: 1, done: make(chan struct{})}
	if q.method.Batch && len(q.in) > 0 {
		j.items = q.in[0].Shape[0]
	}
	return j
}

// end sets the outcome. Later calls have no effect.
func (j *job) end(out []untyped.Tensor, err error) {
	if j.ended.CompareAndSwap(false, true) {
		j.out, j.err = out, err
		close(j.done)
	}
}

// canJoin reports whether j may share a batch with other requests.
func (j *job) canJoin() bool { return j.method.Batch && j.sequence == nil && len(j.in) > 0 }

// joins reports whether j and other can be in one batch: their inputs have the same shapes, apart
// from the number of items.
func (j *job) joins(other *job) bool {
	if j.method != other.method || !j.canJoin() || !other.canJoin() {
		return false
	}
	for i := range j.in {
		if !slices.Equal(j.in[i].Shape[1:], other.in[i].Shape[1:]) {
			return false
		}
	}
	return true
}

// join concatenates the inputs of a batch's requests.
func join(batch []*job) []untyped.Tensor {
	if len(batch) == 1 {
		return batch[0].in
	}
	out := make([]untyped.Tensor, len(batch[0].in))
	for i := range out {
		x := &out[i]
		x.Port, x.Shape = batch[0].in[i].Port, slices.Clone(batch[0].in[i].Shape)
		size := 0
		x.Shape[0] = 0
		for _, j := range batch {
			x.Shape[0] += j.items
			size += len(j.in[i].Data)
			x.Texts = append(x.Texts, j.in[i].Texts...)
		}
		x.Data = untyped.Alloc(size)
		at := 0
		for _, j := range batch {
			at += copy(x.Data[at:], j.in[i].Data)
		}
	}
	return out
}

// part returns items [from, to) of the results of a batch.
func part(out []untyped.Tensor, from, to int) []untyped.Tensor {
	parts := make([]untyped.Tensor, len(out))
	for i := range out {
		parts[i] = out[i].Items(from, to)
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
