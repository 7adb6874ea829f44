package data

import (
	"iter"
	"math"
	"math/rand/v2"
)

// Batches yields examples x and their targets y in batches of size examples. The last batch may be
// smaller. rng shuffles the examples anew for each iteration; if rng is nil, they come in order. A
// batch is valid until the next one. A size below 1 yields one batch of everything. If x and y have
// different lengths, the rest of the longer one is ignored.
func Batches[X, Y any](x []X, y []Y, size int, rng *rand.Rand) iter.Seq2[[]X, []Y] {
	n := min(len(x), len(y))
	if size < 1 {
		size = max(1, n)
	}
	return func(yield func([]X, []Y) bool) {
		if rng == nil {
			for from := 0; from < n; from += size {
				to := from + min(size, n-from)
				if !yield(x[from:to:to], y[from:to:to]) {
					return
				}
			}
			return
		}
		order := rng.Perm(n)
		batchX, batchY := make([]X, min(size, n)), make([]Y, min(size, n))
		for len(order) > 0 {
			k := min(size, len(order))
			for i, from := range order[:k] {
				batchX[i], batchY[i] = x[from], y[from]
			}
			if !yield(batchX[:k:k], batchY[:k:k]) {
				return
			}
			order = order[k:]
		}
	}
}

// Set is a set of examples X and their targets Y.
type Set[X, Y any] struct {
	X []X
	Y []Y
}

// Split divides examples into two sets, such as for training and evaluation. part, from 0 to 1, is
// the share of the examples that the first set gets. The number of these examples is rounded. rng
// shuffles the examples first. If rng is nil, they stay in order, and the sets share the memory of
// x and y.
func Split[X, Y any](x []X, y []Y, part float64, rng *rand.Rand) (first, second Set[X, Y]) {
	n := min(len(x), len(y))
	k := 0
	if part > 0 {
		k = int(math.Round(min(1, part) * float64(n)))
	}
	if rng != nil {
		order := rng.Perm(n)
		x, y = picked(x, order), picked(y, order)
	}
	return Set[X, Y]{x[:k:k], y[:k:k]}, Set[X, Y]{x[k:n:n], y[k:n:n]}
}

// picked returns the elements of x in this order.
func picked[T any](x []T, order []int) []T {
	list := make([]T, len(order))
	for i, from := range order {
		list[i] = x[from]
	}
	return list
}
