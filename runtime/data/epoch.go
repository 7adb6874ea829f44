package data

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
)

// Epoch yields the batches of an epoch in order, from batch number `start` on. `start` is the
// number of batches that have already been used, for example before training was interrupted. A
// batch is valid until the next one is asked for.
//
// If something fails, Epoch yields a nil batch and an error, and ends. The error of an item names
// the item: "item 4711: …" is about item 4711 of the data set. With [Skip], items with errors are
// left out. If all items of a batch have errors, Epoch yields an error nevertheless, so that the
// number of batches does not change. Epoch also yields an error if the arguments of [Load] or
// `start` are not valid. If ctx ends, it yields the cause.
//
// When the iteration has ended, all goroutines that made batches have ended, too.
func (l *Loader[B]) Epoch(ctx context.Context, epoch, start int) iter.Seq2[*B, error] {
	if ctx == nil {
		ctx = context.Background()
	}
	return func(yield func(*B, error) bool) {
		switch {
		case l.err != nil:
			yield(nil, l.Err())
		case start < 0 || start > l.batches:
			yield(nil, fmt.Errorf("load: batch %d: the epoch has %d batches", start, l.batches))
		case start == l.batches:
		case l.o.Workers == Inline:
			l.inline(ctx, l.newRun(epoch), start, yield)
		default:
			l.background(ctx, l.newRun(epoch), start, yield)
		}
	}
}

type run struct {
	order order
	key   uint64 // for the random numbers of items
	ended chan struct{}
}

func (l *Loader[B]) newRun(epoch int) *run {
	return &run{l.order(epoch), keyOf(l.o.Seed, uint64(epoch)), make(chan struct{})}
}

// makeBatch returns a function that makes batch k. Calls of this function must not be concurrent.
func (l *Loader[B]) makeBatch(r *run) func(out *made[B], k int) {
	m, at := l.maker(), make([]int, l.room())
	return func(out *made[B], k int) {
		from, to := l.part(k)
		at := at[:to-from]
		for i := range at {
			at[i] = r.order.at(from + i)
		}
		m.make(out, at, r.key, r.ended)
	}
}

// inline makes each batch when the consumer asks for it.
func (l *Loader[B]) inline(ctx context.Context, r *run, from int, yield func(*B, error) bool) {
	next, out := l.makeBatch(r), new(made[B])
	for k := from; k < l.batches; k++ {
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
			return
		}
		next(out, k)
		if !l.deliver(out, yield) {
			return
		}
	}
}

// worker makes every n-th batch of an epoch, where n is the number of workers. It has two batches,
// so that it can make one while the consumer uses the other. Sends on its channels never block.
type worker[B any] struct{ free, ready chan *made[B] }

// background makes batches ahead on other goroutines.
func (l *Loader[B]) background(ctx context.Context, r *run, from int, yield func(*B, error) bool) {
	workers := make([]worker[B], l.workers(from))
	var running sync.WaitGroup
	defer running.Wait()
	defer close(r.ended)
	for i := range workers {
		w := worker[B]{make(chan *made[B], 2), make(chan *made[B], 2)}
		w.free <- new(made[B])
		w.free <- new(made[B])
		workers[i] = w
		running.Go(func() { l.work(w, r, from+i, len(workers)) })
	}
	for k := from; k < l.batches; k++ {
		w := workers[(k-from)%len(workers)]
		var out *made[B]
		select {
		case out = <-w.ready:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
			return
		}
		if !l.deliver(out, yield) {
			return
		}
		w.free <- out
	}
}

// work makes batches number first, first+step, first+2·step, and so on. It ends when the epoch ends
// or a batch has an error.
func (l *Loader[B]) work(w worker[B], r *run, first, step int) {
	next := l.makeBatch(r)
	for k := first; k < l.batches; k += step {
		var out *made[B]
		select {
		case out = <-w.free:
		case <-r.ended:
			return
		}
		next(out, k)
		failed := out.err != nil
		w.ready <- out
		if failed {
			return
		}
	}
}

// deliver yields a batch, or the error of the batch. It counts and logs the items that were
// skipped. It returns false if the epoch has to end.
func (l *Loader[B]) deliver(out *made[B], yield func(*B, error) bool) bool {
	if n := len(out.skipped); n > 0 {
		l.skipped.Add(int64(n))
		log := l.o.Log
		if log == nil {
			log = slog.Default()
		}
		for _, err := range out.skipped {
			log.Warn("item skipped", "error", err)
		}
	}
	if out.err != nil {
		yield(nil, out.err)
		return false
	}
	return yield(&out.batch, nil)
}
