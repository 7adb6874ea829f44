package data

import (
	"fmt"
	"math/rand/v2"
)

// Collate says how items T become batches B. [Pairs], [Into] and [Whole] return a Collate.
type Collate[T, B any] struct {
	size  func(b *B, n int)
	put   func(item T, b *B, k int, r *rand.Rand) error
	whole func(items []T, b *B, r *rand.Rand) error
}

// Set is a batch of examples X and their targets Y. X[k] and Y[k] belong together.
type Set[X, Y any] struct {
	X []X
	Y []Y
}

// Pairs makes batches of examples and targets, in the form that generated packages take. `put`
// stores an item in *x and *y, which are elements of the batch. They are zero values when `put` is
// called. `put` may draw random numbers from r. They depend on the seed, the epoch and the item,
// but not on the worker that calls `put`. `put` is called by several goroutines at once, and must
// not keep x, y or r.
func Pairs[T, X, Y any](put func(item T, x *X, y *Y, r *rand.Rand) error) Collate[T, Set[X, Y]] {
	if put == nil {
		return Collate[T, Set[X, Y]]{}
	}
	return Into(func(b *Set[X, Y], n int) {
		b.X, b.Y = sized(b.X, n), sized(b.Y, n)
	}, func(item T, b *Set[X, Y], k int, r *rand.Rand) error {
		b.X[k], b.Y[k] = *new(X), *new(Y)
		return put(item, &b.X[k], &b.Y[k], r)
	})
}

// Copy stores a pair as it is. For example, Pairs(Copy[X, Y]) makes batches of the items of
// [Zipped].
func Copy[X, Y any](p Pair[X, Y], x *X, y *Y, _ *rand.Rand) error {
	*x, *y = p.X, p.Y
	return nil
}

// sized returns a slice of n elements. It uses the memory of x, with its elements, if the capacity
// of x suffices.
func sized[T any](x []T, n int) []T {
	if n <= cap(x) {
		return x[:n]
	}
	return append(x, make([]T, n-len(x))...)
}

// Into makes batches of any type, item by item. For each batch, it calls `size` and then `put` for
// each item.
//
// `size` sets the number of items of *b to n, and does not change the first n items that *b already
// has. *b is a zero value at first. Later it is an earlier batch, so that `size` can use its memory
// again. `put` stores an item at index k of *b, and must overwrite the old item there. See [Pairs]
// for r and for goroutines.
func Into[T, B any](size func(b *B, n int), put func(item T, b *B, k int, r *rand.Rand) error) Collate[T, B] {
	return Collate[T, B]{size: size, put: put}
}

// Whole makes a batch of all its items at once, for example to pad texts to the longest one. `fill`
// stores the items in *b. *b is a zero value at first. Later it is an earlier batch, so that `fill`
// can use its memory again. `fill` must not keep items. If `fill` returns an error, the epoch ends,
// even with [Skip]. The random numbers of r depend on the first item of the batch; see [Pairs] for
// goroutines.
func Whole[T, B any](fill func(items []T, b *B, r *rand.Rand) error) Collate[T, B] {
	return Collate[T, B]{whole: fill}
}

func (c *Collate[T, B]) check() error {
	if c.whole == nil && (c.size == nil || c.put == nil) {
		return fmt.Errorf("no function makes a batch of items")
	}
	return nil
}
