package data

import (
	"fmt"

	"github.com/burngen/burngen/runtime/rt"
)

// Slid returns the windows of d: item i is the slice of the items i·stride to i·stride+size−1 of d.
// Items at the end that do not fill a window are not used. Each window is a new slice. Reading a
// window returns an error if one of its items cannot be read. The data set has an error if size or
// stride is below 1, or a window exceeds [rt.ArenaLimit].
func Slid[T any](d Dataset[T], size, stride int) Dataset[[]T] {
	if err := Err(d); err != nil {
		return failed[[]T]{err}
	}
	if size < 1 || stride < 1 {
		return failf[[]T]("slid: size %d, stride %d: at least 1 expected", size, stride)
	}
	if err := rt.CheckSize[T](size); err != nil {
		return failed[[]T]{fmt.Errorf("slid: %w", err)}
	}
	s := &slid[T]{of: d, size: size, stride: stride}
	if room := d.Len() - size; room >= 0 {
		s.n = room/stride + 1
	}
	return s
}

type slid[T any] struct {
	of              Dataset[T]
	size, stride, n int
	ints            scratch[int]
}

func (s *slid[T]) Len() int { return s.n }

func (s *slid[T]) At(i int) ([]T, error) {
	if err := checkIndex(i, s.n); err != nil {
		return nil, err
	}
	at := s.ints.get(s.size)
	defer s.ints.put(at)
	for k := range *at {
		(*at)[k] = i*s.stride + k
	}
	window := make([]T, s.size)
	if err := readMany(s.of, window, *at); err != nil {
		return nil, err
	}
	return window, nil
}
