package data

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/burngen/burngen/runtime/rt"
)

// maker makes batches for one goroutine.
type maker[B any] interface {
	// make makes the batch of the items at the given indices. key is the epoch's key for random
	// numbers. out.err becomes errEnded if ended is closed.
	make(out *made[B], at []int, key uint64, ended <-chan struct{})
}

// made is a batch that a worker has made, or the error of this batch. It also has the errors of the
// items that were skipped.
type made[B any] struct {
	batch   B
	err     error
	skipped []error
}

// errEnded is the error of a batch that was not complete when the epoch ended.
var errEnded = errors.New("the epoch has ended")

// itemMaker makes batches of the items of a data set.
type itemMaker[T, B any] struct {
	d Dataset[T]
	// d, or nil if d does not implement it
	many    ManyReader[T]
	collate Collate[T, B]
	onError OnError
	random  *source
	items   []T
	indices []int
}

func newMaker[T, B any](d Dataset[T], c Collate[T, B], e OnError) maker[B] {
	m := &itemMaker[T, B]{d: d, collate: c, onError: e, random: newSource()}
	m.many, _ = d.(ManyReader[T])
	return m
}

func (m *itemMaker[T, B]) make(out *made[B], at []int, key uint64, ended <-chan struct{}) {
	out.err, out.skipped = nil, out.skipped[:0]
	if out.err = m.read(out, at, ended); out.err != nil {
		return
	}
	if len(m.items) > 0 || len(at) == 0 {
		out.err = m.fill(out, key, ended)
	}
	if n := len(out.skipped); out.err == nil && n > 0 && n == len(at) {
		out.err = fmt.Errorf("all items of a batch have errors: %w", out.skipped[n-1])
	}
}

// read reads the items with the indices `at`. It stores them in m.items, and their indices in
// m.indices. It leaves out items that are skipped.
func (m *itemMaker[T, B]) read(out *made[B], at []int, ended <-chan struct{}) error {
	m.items, m.indices = sized(m.items[:0], len(at)), append(m.indices[:0], at...)
	if m.many != nil {
		if err := m.readMany(at); err == nil {
			return nil
		}
		// One at a time, to find out which item it is.
	}
	n := 0
	for _, i := range at {
		select {
		case <-ended:
			return errEnded
		default:
		}
		var err error
		if m.items[n], err = m.readOne(i); err != nil {
			if err = m.failed(out, i, err); err != nil {
				return err
			}
			continue
		}
		m.indices[n] = i
		n++
	}
	m.items, m.indices = m.items[:n], m.indices[:n]
	return nil
}

func (m *itemMaker[T, B]) readMany(at []int) (err error) {
	defer rt.Recover("items", &err)
	return m.many.Many(m.items, at)
}

func (m *itemMaker[T, B]) readOne(i int) (x T, err error) {
	defer rt.Recover("reading", &err)
	return m.d.At(i)
}

// failed handles the error of an item. It returns the error, or nil if the item is skipped. If the
// item is skipped, it adds the error to out.skipped. A panic is never skipped.
func (m *itemMaker[T, B]) failed(out *made[B], item int, err error) error {
	err = fmt.Errorf("item %d: %w", item, err)
	if p := (*rt.PanicError)(nil); m.onError != Skip || errors.As(err, &p) {
		return err
	}
	out.skipped = append(out.skipped, err)
	return nil
}

// fill collates the items that were read into the batch.
func (m *itemMaker[T, B]) fill(out *made[B], key uint64, ended <-chan struct{}) error {
	if m.collate.whole != nil {
		return m.fillWhole(out, key)
	}
	if err := m.resize(&out.batch, len(m.items)); err != nil {
		return err
	}
	n := 0
	for k, i := range m.indices {
		select {
		case <-ended:
			return errEnded
		default:
		}
		if err := m.putOne(&out.batch, n, k, key); err != nil {
			if err = m.failed(out, i, err); err != nil {
				return err
			}
			continue
		}
		n++
	}
	if n < len(m.items) {
		return m.resize(&out.batch, n)
	}
	return nil
}

func (m *itemMaker[T, B]) resize(b *B, n int) (err error) {
	defer rt.Recover("making room for a batch", &err)
	m.collate.size(b, n)
	return nil
}

// putOne puts item k of m.items at index n of the batch.
func (m *itemMaker[T, B]) putOne(b *B, n, k int, key uint64) (err error) {
	defer rt.Recover("collating", &err)
	return m.collate.put(m.items[k], b, n, m.random.of(key, m.indices[k]))
}

// fillWhole puts all items into the batch with one call. The call draws random numbers from the
// generator of the batch's first item; see source.of for key.
func (m *itemMaker[T, B]) fillWhole(out *made[B], key uint64) error {
	first := 0 // for a part without items
	if len(m.indices) > 0 {
		first = m.indices[0]
	}
	if err := m.putAll(&out.batch, m.random.of(key, first)); err != nil {
		return fmt.Errorf("batch of %d items from item %d on: %w", len(m.items), first, err)
	}
	return nil
}

func (m *itemMaker[T, B]) putAll(b *B, r *rand.Rand) (err error) {
	defer rt.Recover("collating", &err)
	return m.collate.whole(m.items, b, r)
}
