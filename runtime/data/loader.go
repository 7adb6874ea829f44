package data

import (
	"errors"
	"fmt"
	"hash"
	"log/slog"
	"math"
	"sync/atomic"

	"github.com/burngen/burngen/runtime/rt"
)

// Inline is a value for [LoaderOptions].Workers. It means that there are no workers: the goroutine
// that asks for a batch makes it.
const Inline = -1

// OnError selects what a [Loader] does if an item cannot be read or put into a batch.
type OnError int

const (
	Stop OnError = iota // the epoch ends with the error, which names the item
	Skip                // the batch is made without the item, and the error is logged
)

// LoaderOptions configure [Load].
type LoaderOptions struct {
	Batch    int          // number of items in a batch; at least 1
	Shuffle  bool         // each epoch has another order
	Seed     uint64       // chooses the orders, and the random numbers of items
	Workers  int          // goroutines that make batches ahead; 0 is one, [Inline] none
	DropLast bool         // leave out the last batch if it is smaller
	OnError  OnError      // Stop (default) or Skip
	Log      *slog.Logger // where skipped items are logged; nil is slog.Default()
}

// Loader makes batches B of the items of a data set. Its methods are safe for use by several
// goroutines. Several epochs may run at once.
//
// The batches of an epoch depend only on the data set, the options and the number of the epoch.
// They do not depend on the number of workers, or on the batch with which an epoch starts.
type Loader[B any] struct {
	o        LoaderOptions
	err      error // of the arguments of Load and Shard
	n        int   // number of items in an epoch, of all ranks
	batches  int
	order    func(epoch int) order
	maker    func() maker[B]
	sample   func(hash.Hash) error
	rank, of int
	skipped  *atomic.Int64
}

// Load returns a loader for batches of d's items, which collate makes. An epoch reads each item of
// d once, except the items that DropLast leaves out.
//
// The epochs of the loader yield an error in these cases:
//
//   - The size of batches is below 1, the number of workers is below Inline, or OnError is unknown.
//   - d has an error or no items, or, with DropLast, fewer items than a batch.
//   - collate has no functions.
//   - The items of a batch exceed [rt.ArenaLimit].
func Load[T, B any](d Dataset[T], collate Collate[T, B], o LoaderOptions) *Loader[B] {
	l := &Loader[B]{o: o, of: 1, skipped: new(atomic.Int64)}
	if l.err = errors.Join(Err(d), collate.check(), o.check()); l.err != nil {
		return l
	}
	l.n = d.Len()
	l.batches = l.n / o.Batch
	if o.DropLast {
		l.n = l.batches * o.Batch
	} else if l.n%o.Batch > 0 {
		l.batches++
	}
	if l.batches == 0 {
		l.err = fmt.Errorf("%d items do not make a batch of %d", d.Len(), o.Batch)
		if d.Len() == 0 {
			l.err = errors.New("the data set has no items")
		}
		return l
	}
	if err := errors.Join(rt.CheckSize[T](l.room()), rt.CheckSize[int](l.room())); err != nil {
		l.err = fmt.Errorf("batches of %d items: %w", o.Batch, err)
		return l
	}
	l.order = func(epoch int) order {
		if o.Shuffle {
			return shuffledOrder(d.Len(), blockOf(d), o.Seed, uint64(epoch))
		}
		return inOrder(d.Len())
	}
	l.maker = func() maker[B] { return newMaker(d, collate, o.OnError) }
	l.sample = sampleOf(d)
	return l
}

func (o LoaderOptions) check() error {
	var errs []error
	if o.Batch < 1 {
		errs = append(errs, fmt.Errorf("batches of %d items: at least 1 expected", o.Batch))
	}
	if o.Workers < Inline {
		errs = append(errs, fmt.Errorf("%d workers: at least 0, or Inline, expected", o.Workers))
	}
	if o.OnError != Stop && o.OnError != Skip {
		errs = append(errs, fmt.Errorf("OnError is %d: Stop or Skip expected", o.OnError))
	}
	return errors.Join(errs...)
}

// Shard returns a loader of a part of each batch, for the process or device `rank` of `count`. Each
// batch of l is divided into `count` parts, one for each rank, in order. The sizes of the parts
// differ by at most 1. A part has no items if a batch has fewer items than there are ranks. Epochs
// yield an error unless 0 ≤ rank < count. Shard of a shard divides its parts further.
func (l *Loader[B]) Shard(rank, count int) *Loader[B] {
	s := *l
	s.skipped = new(atomic.Int64)
	all, ok := product(l.of, max(1, count))
	if rank < 0 || rank >= count || !ok {
		s.err = errors.Join(l.err, fmt.Errorf("shard %d of %d: from 0 to the number of shards expected", rank, count))
		return &s
	}
	s.rank, s.of = l.rank*count+rank, all
	return &s
}

// Err returns the error that all epochs yield if the arguments of [Load] or [Loader.Shard] are not
// valid. It returns nil if they are valid.
func (l *Loader[B]) Err() error {
	if l.err != nil {
		return fmt.Errorf("load: %w", l.err)
	}
	return nil
}

// Options returns the options that the loader was made with.
func (l *Loader[B]) Options() LoaderOptions { return l.o }

// Batches returns the number of batches in an epoch. It returns 0 if the arguments of [Load] are
// not valid.
func (l *Loader[B]) Batches() int { return l.batches }

// Items returns the number of items in an epoch, in all shards together. Items that DropLast leaves
// out do not count. Items that are skipped do count.
func (l *Loader[B]) Items() int { return l.n }

// Skipped returns the number of items that were skipped, in all batches that this loader has
// yielded.
func (l *Loader[B]) Skipped() int64 { return l.skipped.Load() }

// part returns the items of batch k that this loader's rank reads, as a range [from, to) of
// positions in the epoch's order.
func (l *Loader[B]) part(k int) (from, to int) {
	begin := k * l.o.Batch
	size := min(l.o.Batch, l.n-begin)
	return begin + fraction(size, l.rank, l.of), begin + fraction(size, l.rank+1, l.of)
}

// room returns the largest possible size of a part.
func (l *Loader[B]) room() int {
	size := min(l.o.Batch, l.n)
	return min(size, size/l.of+1)
}

// workers returns the number of goroutines for an epoch. `from` is the index of the first batch
// that the epoch makes.
func (l *Loader[B]) workers(from int) int {
	n := l.o.Workers
	if n == 0 {
		n = 1
	}
	return min(n, l.batches-from, math.MaxInt32)
}
