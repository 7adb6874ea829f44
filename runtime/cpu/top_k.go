package cpu

import "fmt"

// TopK finds, in each line of n elements of src, the k greatest or, when smallest is
// set, the k least, the most extreme first and of equals the one before (ONNX TopK):
// their values and their places in the line. NaN is greater than everything. It fails
// where k is more than n.
func TopK[T Number](values []T, places []int64, src []T, n, k int, smallest bool) error {
	if k > n {
		return fmt.Errorf("top_k: k is %d for an axis of %d", k, n)
	}
	if k <= 0 {
		return nil
	}
	lines := len(values) / k
	places, src = trim(places, len(values)), trim(src, volume(lines, n))
	for l := range lines {
		line, best := src[l*n:][:n], places[l*k:][:k]
		if smallest {
			topOf(line, best, func(a, b T) bool { return a < b || b != b && a == a })
		} else {
			topOf(line, best, func(a, b T) bool { return a > b || a != a && b == b })
		}
		for i, at := range best {
			values[l*k+i] = line[at]
		}
	}
	return nil
}

// topOf sets best to the places of the elements of line that come first by a strict
// order, and then by their place. It keeps them in a heap whose root comes last.
func topOf[T Number](line []T, best []int64, first func(a, b T) bool) {
	after := func(i, j int64) bool {
		if first(line[i], line[j]) {
			return false
		}
		return i > j || first(line[j], line[i])
	}
	for i := range best {
		best[i] = int64(i)
	}
	for i := len(best)/2 - 1; i >= 0; i-- {
		sink(best, i, after)
	}
	for i := len(best); i < len(line); i++ {
		if first(line[i], line[best[0]]) {
			best[0] = int64(i)
			sink(best, 0, after)
		}
	}
	for end := len(best) - 1; end > 0; end-- {
		best[0], best[end] = best[end], best[0]
		sink(best[:end], 0, after)
	}
}

// sink moves element i of a heap down, below the children that come after it.
func sink[T any](heap []T, i int, after func(a, b T) bool) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && after(heap[child+1], heap[child]) {
			child++
		}
		if !after(heap[child], heap[i]) {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}
