package data

import (
	"fmt"
	"sync/atomic"

	"github.com/burngen/burngen/runtime/rt"
)

// Cached returns a data set with the items of d. It keeps each item in memory after the item's
// first read. It does not keep errors: an item with an error is read again next time. If several
// goroutines need a new item at the same moment, each may read it, but all get the item that was
// kept first. The data set has an error if pointers to all items exceed [rt.ArenaLimit].
func Cached[T any](d Dataset[T]) Dataset[T] {
	if err := Err(d); err != nil {
		return failed[T]{err}
	}
	if err := rt.CheckSize[atomic.Pointer[T]](d.Len()); err != nil {
		return failed[T]{fmt.Errorf("cached: %w", err)}
	}
	return &cached[T]{of: d, items: make([]atomic.Pointer[T], d.Len())}
}

type cached[T any] struct {
	of    Dataset[T]
	items []atomic.Pointer[T]
	ints  scratch[int]
	room  scratch[T]
}

func (c *cached[T]) Len() int   { return len(c.items) }
func (c *cached[T]) Block() int { return blockOf(c.of) }

func (c *cached[T]) At(i int) (T, error) {
	if err := checkIndex(i, len(c.items)); err != nil {
		return *new(T), err
	}
	if p := c.items[i].Load(); p != nil {
		return *p, nil
	}
	x, err := c.of.At(i)
	if err != nil {
		return *new(T), err
	}
	return c.keep(i, x), nil
}

// keep stores x as item i, unless this item is already stored. It returns the stored item.
func (c *cached[T]) keep(i int, x T) T {
	c.items[i].CompareAndSwap(nil, &x)
	return *c.items[i].Load()
}

// Many implements [ManyReader]. With one call, it reads all the items that are not in memory yet.
func (c *cached[T]) Many(dst []T, at []int) error {
	if err := checkRoom(dst, at); err != nil {
		return err
	}
	list := c.ints.get(len(at))
	defer c.ints.put(list)
	missing := (*list)[:0]
	for k, i := range at {
		if err := checkIndex(i, len(c.items)); err != nil {
			return err
		}
		if p := c.items[i].Load(); p != nil {
			dst[k] = *p
		} else {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	room := c.room.get(len(missing))
	defer c.room.put(room)
	if err := readMany(c.of, *room, missing); err != nil {
		return err
	}
	for k, i := range missing {
		c.keep(i, (*room)[k])
	}
	for k, i := range at {
		dst[k] = *c.items[i].Load()
	}
	return nil
}
