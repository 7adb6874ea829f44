package data

import (
	"errors"
	"fmt"
)

// Map returns a data set whose item i is f applied to item i of d. f is called each time that an
// item is read, on any goroutine; the results are not kept. If f returns an error, the item has
// this error. To call f only once for each item, see [Cached] and [Stored].
func Map[T, U any](d Dataset[T], f func(T) (U, error)) Dataset[U] {
	if err := Err(d); err != nil {
		return failed[U]{err}
	}
	if f == nil {
		return failed[U]{errors.New("map: no function")}
	}
	return &mapped[T, U]{of: d, f: f}
}

type mapped[T, U any] struct {
	of    Dataset[T]
	f     func(T) (U, error)
	items scratch[T]
}

func (m *mapped[T, U]) Len() int   { return m.of.Len() }
func (m *mapped[T, U]) Block() int { return blockOf(m.of) }

func (m *mapped[T, U]) At(i int) (U, error) {
	x, err := m.of.At(i)
	if err != nil {
		return *new(U), err
	}
	return m.f(x)
}

func (m *mapped[T, U]) Many(dst []U, at []int) error {
	if err := checkRoom(dst, at); err != nil {
		return err
	}
	items := m.items.get(len(at))
	defer m.items.put(items)
	if err := readMany(m.of, *items, at); err != nil {
		return err
	}
	for k, x := range *items {
		var err error
		if dst[k], err = m.f(x); err != nil {
			return fmt.Errorf("item %d: %w", at[k], err)
		}
	}
	return nil
}
