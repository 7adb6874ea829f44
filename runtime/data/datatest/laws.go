// Package datatest tests implementations of data.Dataset and of its optional interfaces. [Check]
// lists the laws that it checks.
package datatest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"sync"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

// Options configure [Run].
type Options[T any] struct {
	Want  []T               // the items, if the caller knows them
	Equal func(a, b T) bool // reports whether two items are the same; nil is reflect.DeepEqual
	Items int               // number of items to read, evenly spaced; 0 is 1000
}

// Run reports the laws that d breaks as errors of t. It closes d if d is an io.Closer.
func Run[T any](t testing.TB, d data.Dataset[T], o Options[T]) {
	t.Helper()
	if err := Check(d, o); err != nil {
		t.Error(err)
	}
}

// Check tests whether d keeps the laws of data sets. It returns the laws that d breaks, or nil. It
// closes d if d is an io.Closer. The laws are:
//
//   - The data set was made without an error.
//   - Len is at least 0 and does not change.
//   - At returns the same item for the same index, on any goroutine. It returns an error for an
//     index out of range.
//   - Many returns the same items as At, for indices in any order, which may repeat. It returns an
//     error for an index out of range, and for slices of different lengths. It does not change the
//     indices.
//   - Block is at least 0.
//   - data.All yields all items in order.
//   - After Close, items cannot be read.
func Check[T any](d data.Dataset[T], o Options[T]) error {
	if err := data.Err(d); err != nil {
		return fmt.Errorf("the data set has an error: %w", err)
	}
	if o.Equal == nil {
		o.Equal = func(a, b T) bool { return reflect.DeepEqual(a, b) }
	}
	if o.Items <= 0 {
		o.Items = 1000
	}
	c := &check[T]{d: d, o: o, n: d.Len()}
	if c.n < 0 {
		return fmt.Errorf("the data set has %d items", c.n)
	}
	c.read()
	c.outOfRange()
	if m, ok := d.(data.ManyReader[T]); ok {
		c.many(m)
	}
	if b, ok := d.(data.Blocked); ok && b.Block() < 0 {
		c.failf("Block is %d", b.Block())
	}
	c.goroutines()
	c.all()
	if n := d.Len(); n != c.n {
		c.failf("Len was %d and is %d", c.n, n)
	}
	if closer, ok := d.(io.Closer); ok {
		c.close(closer)
	}
	return errors.Join(c.errs...)
}

type check[T any] struct {
	d     data.Dataset[T]
	o     Options[T]
	n     int
	at    []int // the indices that are read
	items []T   // and their items
	errs  []error
}

func (c *check[T]) failf(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *check[T]) read() {
	if c.o.Want != nil && len(c.o.Want) != c.n {
		c.failf("Len is %d, want %d", c.n, len(c.o.Want))
	}
	step := max(1, c.n/c.o.Items)
	for k := 0; k < c.n/step && k < c.o.Items; k++ {
		i := k * step
		x, err := c.d.At(i)
		if err != nil {
			c.failf("At(%d): %w", i, err)
			continue
		}
		if i < len(c.o.Want) && !c.o.Equal(x, c.o.Want[i]) {
			c.failf("At(%d) is %v, want %v", i, x, c.o.Want[i])
		}
		c.at, c.items = append(c.at, i), append(c.items, x)
	}
}

func beyond(n int) []int { return []int{-1, n, math.MinInt, math.MaxInt} }

func (c *check[T]) outOfRange() {
	for _, i := range beyond(c.n) {
		if _, err := c.d.At(i); err == nil {
			c.failf("At(%d) does not return an error for %d items", i, c.n)
		}
	}
}

func (c *check[T]) many(m data.ManyReader[T]) {
	if err := m.Many(nil, nil); err != nil {
		c.failf("Many without indices: %w", err)
	}
	if err := m.Many(make([]T, 1), nil); err == nil {
		c.failf("Many does not return an error for slices of different lengths")
	}
	for _, i := range beyond(c.n) {
		if err := m.Many(make([]T, 1), []int{i}); err == nil {
			c.failf("Many of index %d does not return an error for %d items", i, c.n)
		}
	}
	n := len(c.at)
	for name, order := range map[string]func(k int) int{
		"in order":  func(k int) int { return k },
		"backwards": func(k int) int { return n - 1 - k },
		"twice":     func(k int) int { return k / 2 },
		"shuffled":  func(k int) int { p := data.NewPermutation(n, 1, 0); return p.At(k) },
	} {
		at, want, dst := make([]int, n), make([]int, n), make([]T, n)
		for k := range at {
			at[k] = c.at[order(k)]
			want[k] = at[k]
		}
		if err := m.Many(dst, at); err != nil {
			c.failf("Many %s: %w", name, err)
			continue
		}
		for k, x := range dst {
			if at[k] != want[k] {
				c.failf("Many %s changes index %d to %d", name, want[k], at[k])
			}
			if !c.o.Equal(x, c.items[order(k)]) {
				c.failf("Many %s: item %d is %v, At returns %v", name, want[k], x, c.items[order(k)])
			}
		}
	}
}

// goroutines reads the items on several goroutines, each in another order. It compares them with
// the items that were read first.
func (c *check[T]) goroutines() {
	var running sync.WaitGroup
	errs := make([]error, 4)
	for g := range errs {
		running.Go(func() {
			p := data.NewPermutation(len(c.at), uint64(g), 0)
			for k := range c.at {
				j := p.At(k)
				x, err := c.d.At(c.at[j])
				if m, ok := c.d.(data.ManyReader[T]); ok && k%2 == 1 {
					dst := make([]T, 1)
					err = m.Many(dst, c.at[j:j+1])
					x = dst[0]
				}
				if err == nil && !c.o.Equal(x, c.items[j]) {
					err = fmt.Errorf("is %v, and was %v", x, c.items[j])
				}
				if err != nil {
					errs[g] = fmt.Errorf("on another goroutine: At(%d): %w", c.at[j], err)
				}
			}
		})
	}
	running.Wait()
	c.errs = append(c.errs, errs...)
}

func (c *check[T]) all() {
	i, k := 0, 0
	for x, err := range data.All(c.d) {
		if k < len(c.at) && c.at[k] == i {
			if err != nil || !c.o.Equal(x, c.items[k]) {
				c.failf("All yields item %d as %v, %v: At returns %v", i, x, err, c.items[k])
			}
			k++
		}
		if i++; k == len(c.at) {
			break
		}
	}
	if k < len(c.at) {
		c.failf("All yields %d items of %d", i, c.n)
	}
}

func (c *check[T]) close(closer io.Closer) {
	if err := closer.Close(); err != nil {
		c.failf("Close: %w", err)
	}
	if len(c.at) == 0 {
		return
	}
	if _, err := c.d.At(c.at[0]); err == nil {
		c.failf("At does not return an error after Close")
	}
}
