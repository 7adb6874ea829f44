package data

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"
)

// Dataset is a list of items. An item may be computed or read when it is asked for. All methods are
// safe for use by several goroutines. An implementation may also be a [ManyReader], a [Blocked] or
// an io.Closer. Package datatest tests whether an implementation keeps the promises of these
// interfaces.
//
// Functions that wrap a data set do not close it.
type Dataset[T any] interface {
	// Len returns the number of items. It is the same for every call.
	Len() int

	// At returns item i, from 0 to Len()-1. It returns an error for another i. The caller must not
	// change memory that the item points to.
	At(i int) (T, error)
}

// ManyReader is a data set that can read several items in one call. This is faster than reading one
// item at a time.
type ManyReader[T any] interface {
	// Many stores the item with index at[k] in dst[k]. Indices may repeat. It returns an error if
	// dst and at have different lengths, an index is out of range, or an item cannot be read. After
	// an error the contents of dst are undefined.
	Many(dst []T, at []int) error
}

// Blocked is a data set whose items are read fastest in blocks, such as the row groups of a file. A
// [Loader] shuffles the blocks. It then divides the shuffled blocks into groups of eight, and
// shuffles the items of each group.
type Blocked interface {
	// Block returns the number of items in a block. Item i belongs to block i/Block(). If the data
	// set does not have blocks, Block returns at most 1.
	Block() int
}

// Err returns the error with which a data set was made, or nil. An example is the error of [Parts]
// for a share below 0. A data set with an error has no items. Data sets that are made from it have
// the same error. [All] and [Loader.Epoch] yield it. Err also returns an error if d is nil.
func Err[T any](d Dataset[T]) error {
	if d == nil {
		return errors.New("no data set")
	}
	if f, ok := d.(interface{ Err() error }); ok {
		return f.Err()
	}
	return nil
}

// failed is a data set that consists of an error.
type failed[T any] struct{ err error }

func (f failed[T]) Len() int          { return 0 }
func (f failed[T]) At(int) (T, error) { return *new(T), f.err }
func (f failed[T]) Err() error        { return f.err }
func failf[T any](format string, args ...any) Dataset[T] {
	return failed[T]{fmt.Errorf(format, args...)}
}

// All yields the items of d in order. If an item cannot be read, All yields an error that names the
// item, and goes on with the next one.
func All[T any](d Dataset[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err := Err(d); err != nil {
			yield(*new(T), err)
			return
		}
		for i := range d.Len() {
			x, err := d.At(i)
			if err != nil {
				err = fmt.Errorf("item %d: %w", i, err)
			}
			if !yield(x, err) {
				return
			}
		}
	}
}

func checkIndex(i, n int) error {
	if i < 0 || i >= n {
		return fmt.Errorf("index %d: there are %d items", i, n)
	}
	return nil
}

func checkRoom[T any](dst []T, at []int) error {
	if len(dst) != len(at) {
		return fmt.Errorf("room for %d items: %d indices", len(dst), len(at))
	}
	return nil
}

// readMany stores item at[k] of d in dst[k], for each k. It calls the method Many of d if d is a
// [ManyReader].
func readMany[T any](d Dataset[T], dst []T, at []int) error {
	if err := checkRoom(dst, at); err != nil {
		return err
	}
	if m, ok := d.(ManyReader[T]); ok {
		return m.Many(dst, at)
	}
	for k, i := range at {
		x, err := d.At(i)
		if err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
		dst[k] = x
	}
	return nil
}

func blockOf[T any](d Dataset[T]) int {
	if b, ok := d.(Blocked); ok {
		return max(1, b.Block())
	}
	return 1
}

// product returns a·b, and whether this fits an int. a and b must not be negative.
func product(a, b int) (int, bool) {
	return a * b, a == 0 || b <= math.MaxInt/a
}

// scratch is a list of slices that can be used again. Unlike a sync.Pool, it keeps them for ever.
type scratch[T any] struct {
	mu   sync.Mutex
	free []*[]T
}

// get returns a slice of n elements with arbitrary contents.
func (s *scratch[T]) get(n int) *[]T {
	s.mu.Lock()
	var p *[]T
	if last := len(s.free) - 1; last >= 0 {
		p, s.free = s.free[last], s.free[:last]
	}
	s.mu.Unlock()
	if p == nil {
		p = new([]T)
	}
	if cap(*p) < n {
		*p = make([]T, n)
	}
	*p = (*p)[:n]
	return p
}

// put returns a slice to the free list.
func (s *scratch[T]) put(p *[]T) {
	s.mu.Lock()
	s.free = append(s.free, p)
	s.mu.Unlock()
}
