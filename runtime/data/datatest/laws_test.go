package datatest_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/datatest"
)

// broken is a data set of the numbers from 0 to 4 that breaks laws. A nil function keeps them.
type broken struct {
	n     func() int
	at    func(i int) (int, error)
	many  func(dst, at []int) error
	block int
}

var errRange = errors.New("out of range")

func (b broken) Len() int {
	if b.n != nil {
		return b.n()
	}
	return 5
}

func (b broken) At(i int) (int, error) {
	if b.at != nil {
		return b.at(i)
	}
	return number(i)
}

func number(i int) (int, error) {
	if i < 0 || i >= 5 {
		return 0, errRange
	}
	return i, nil
}

func (b broken) Many(dst, at []int) error {
	if b.many != nil {
		return b.many(dst, at)
	}
	return numbers(dst, at)
}

func numbers(dst, at []int) (err error) {
	if len(dst) != len(at) {
		return errRange
	}
	for k, i := range at {
		if dst[k], err = number(i); err != nil {
			return err
		}
	}
	return nil
}

func (b broken) Block() int { return b.block }

// closed counts how often it is closed, and can be read afterwards.
type closed struct {
	broken
	err   error
	count int
}

func (c *closed) Close() error {
	c.count++
	return c.err
}

func TestLaws(t *testing.T) {
	if err := datatest.Check(broken{}, datatest.Options[int]{Want: []int{0, 1, 2, 3, 4}}); err != nil {
		t.Error(err)
	}
	var calls atomic.Int64
	for _, tt := range []struct {
		name string
		d    data.Dataset[int]
		o    datatest.Options[int]
		want string
	}{
		{"no data set", nil, datatest.Options[int]{}, "no data set"},
		{"made with an error", data.Part(data.Of([]int{1}), -1, 0), datatest.Options[int]{}, "has an error"},
		{"a negative length", broken{n: func() int { return -1 }}, datatest.Options[int]{}, "the data set has -1 items"},
		{"another length each time", broken{n: func() int { return int(calls.Add(1)) }}, datatest.Options[int]{}, "Len was"},
		{"other items", broken{}, datatest.Options[int]{Want: []int{0, 1, 2, 3, 5}}, "At(4) is 4, want 5"},
		{"fewer items", broken{}, datatest.Options[int]{Want: []int{0}}, "Len is 5, want 1"},
		{"an item with an error", broken{at: func(i int) (int, error) { return 0, errRange }}, datatest.Options[int]{}, "At(0): out of range"},
		{"no error out of range", broken{at: func(i int) (int, error) { return i, nil }}, datatest.Options[int]{}, "At(-1) does not return an error"},
		{"another item each time", broken{at: func(i int) (int, error) {
			_, err := number(i)
			return int(calls.Add(1)), err
		}}, datatest.Options[int]{}, "on another goroutine"},
		{"many without a check", broken{many: func(dst, at []int) error {
			copy(dst, at)
			return nil
		}}, datatest.Options[int]{}, "slices of different lengths"},
		{"many of other items", broken{many: func(dst, at []int) error {
			err := numbers(dst, at)
			for k := range dst {
				dst[k]++
			}
			return err
		}}, datatest.Options[int]{}, "At returns"},
		{"many that changes indices", broken{many: func(dst, at []int) error {
			err := numbers(dst, at)
			clear(at)
			return err
		}}, datatest.Options[int]{}, "changes index"},
		{"negative blocks", broken{block: -1}, datatest.Options[int]{}, "Block is -1"},
		{"read after Close", new(closed), datatest.Options[int]{}, "after Close"},
		{"Close fails", &closed{err: errRange}, datatest.Options[int]{}, "Close: out of range"},
		{"never equal", broken{}, datatest.Options[int]{Equal: func(a, b int) bool { return false }}, "All yields item 0"},
	} {
		err := datatest.Check(tt.d, tt.o)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", tt.name, err, tt.want)
		}
	}
}

// TestSpacedItems reads ten items of a hundred.
func TestSpacedItems(t *testing.T) {
	var read atomic.Int64
	d := data.Map(data.Repeated(data.Of([]int{1, 2, 3, 4}), 25), func(x int) (int, error) {
		read.Add(1)
		return x, nil
	})
	datatest.Run(t, d, datatest.Options[int]{Items: 10})
	if n := read.Load(); n > 250 {
		t.Errorf("%d items were read", n)
	}
}
