package data

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

// SampleOptions configure [Sampled]. The zero value draws uniformly with replacement.
type SampleOptions struct {
	Seed               uint64    // chooses the draws
	WithoutReplacement bool      // no item is drawn again before all have been drawn
	Weights            []float64 // an item is drawn with a probability proportional to its weight; nil: all are equal
}

// Sampled returns n items of d, drawn at random. The draws depend only on n, the number of items
// and the options. Items of weight 0 are never drawn. n may exceed d.Len(). Sampling without
// replacement then draws each item once, in a random order, and starts again with a new order.
//
// Sampling without weights needs no memory. With weights it keeps two to four float64s for each
// item of d. With weights and without replacement it also keeps the n draws.
//
// Reading an item returns the errors of d. The data set has an error in these cases:
//
//   - n is negative, or there are no items to draw from.
//   - The number of weights is not the number of items.
//   - A weight is negative or not finite, or all weights are 0.
//   - The memory would exceed [rt.ArenaLimit].
func Sampled[T any](d Dataset[T], n int, o SampleOptions) Dataset[T] {
	if err := Err(d); err != nil {
		return failed[T]{err}
	}
	items := d.Len()
	if n < 0 || n > 0 && items == 0 {
		return failf[T]("sampled: %d draws of %d items", n, items)
	}
	v := &view[T]{of: d, n: n}
	key := keyOf(o.Seed, 1<<63)
	draw := func(i int) uint64 { return mix(key + uint64(i+1)*golden) }
	switch {
	case o.Weights != nil:
		w, err := newWeights(o.Weights, items)
		if err == nil && o.WithoutReplacement {
			err = rt.CheckSize[int](n)
		}
		if err != nil {
			return failed[T]{fmt.Errorf("sampled: %w", err)}
		}
		if o.WithoutReplacement {
			return picked(d, w.order(n, draw))
		}
		v.index = func(i int) int { return w.at(fractionOf(draw(i))) }
	case o.WithoutReplacement:
		v.index = func(i int) int {
			p := NewPermutation(items, o.Seed, uint64(i/items))
			return p.At(i % items)
		}
	default:
		v.index = func(i int) int { return below(draw(i), items) }
	}
	return v
}

// weights is a binary tree of sums. The children of node i are 2i and 2i+1, and the value of a node
// is the sum of its children. The leaves are the weights of the items, padded with zeros.
type weights []float64

// newWeights returns a tree of the weights of n items.
func newWeights(list []float64, n int) (weights, error) {
	if len(list) != n {
		return nil, fmt.Errorf("%d weights for %d items", len(list), n)
	}
	leaves := 1
	for leaves < n {
		leaves *= 2
	}
	if err := rt.CheckSize[[2]float64](leaves); err != nil {
		return nil, err
	}
	w := make(weights, 2*leaves)
	for i, x := range list {
		if !(x >= 0) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("weight %d is %v: at least 0 expected", i, x)
		}
		w[leaves+i] = x
	}
	for i := leaves - 1; i > 0; i-- {
		w[i] = w[2*i] + w[2*i+1]
	}
	if !(w[1] > 0) || math.IsInf(w[1], 0) {
		return nil, fmt.Errorf("the weights sum up to %v", w[1])
	}
	return w, nil
}

// at returns the item at which the sum of the weights from item 0 on reaches `fraction` of the
// total.
func (w weights) at(fraction float64) int {
	x, node := float64(fraction*w[1]), 1
	for node < len(w)/2 {
		left, right := w[2*node], w[2*node+1]
		node *= 2
		if x >= left && right > 0 {
			x -= left
			node++
		}
	}
	return node - len(w)/2
}

// order returns n draws without replacement. draw(i) returns the 64 random bits that decide draw i.
// After all items of positive weight have been drawn, all of them can be drawn again.
func (w weights) order(n int, draw func(i int) uint64) []int {
	left := append(weights(nil), w...)
	order := make([]int, n)
	for i := range order {
		if left[1] == 0 {
			copy(left, w)
		}
		order[i] = left.at(fractionOf(draw(i)))
		node := len(left)/2 + order[i]
		for left[node] = 0; node > 1; node /= 2 {
			left[node/2] = left[node&^1] + left[node|1]
		}
	}
	return order
}
