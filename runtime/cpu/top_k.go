package cpu

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// TopK finds the k largest elements in each line of n elements of src (ONNX TopK). If smallest is
// true, it finds the k smallest. `values` receives these elements: the largest first, or the
// smallest first if smallest is true, and ties by index. `places` receives their indices in the
// line. NaN is larger than every number. TopK does nothing if k ≤ 0, and returns an error if k
// exceeds n.
func TopK[T Number](values []T, places []int64, src []T, n, k int, smallest bool) error {
	if k > n {
		return fmt.Errorf("top_k: k is %d for an axis of %d", k, n)
	}
	if k <= 0 {
		return nil
	}
	lines := len(values) / k
	places, src = trim(places, len(values)), trim(src, volume(lines, n))
	if v, x, ok := float32s(values, src); ok && int64(n) <= math.MaxUint32 {
		t := topping{values: onHeap(v), places: onHeap(places), src: onHeap(x), n: n, k: k}
		if smallest {
			t.flip = 1<<32 - 1
		}
		if len(x) < sharedFrom || !toppings.run(&t, rt.Parts(int64(len(x))/2)) {
			t.Part(0, 1)
		}
		return nil
	}
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

// topOf finds the len(best) elements of `line` that come first, and sets `best` to their indices,
// in order. first(a, b) reports whether a comes before b. Equal elements are ordered by index.
// While topOf works, `best` is a heap; its root is the candidate that comes last.
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

// sink moves element i of a heap down until no child comes after it. after(a, b) reports whether a
// comes after b.
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

// topping is the state of a running TopK of float32. Each element has a key of 64 bits, and the
// element with the smallest key comes first. The high half of a key is the [float32Order] of the
// value, inverted unless flip is set. The low half is the index.
type topping struct {
	values []float32
	places []int64
	src    []float32
	n, k   int
	flip   uint32
}

var toppings slot[topping, *topping]

func (t *topping) Part(i, parts int) {
	from, to := portion(len(t.values)/t.k, i, parts)
	for l := from; l < to; l++ {
		t.line(t.values[l*t.k:][:t.k], t.places[l*t.k:][:t.k], t.src[l*t.n:][:t.n])
	}
}

// line finds the first elements of a line of x, in the order of the result. It writes them to
// `values`, and their indices to `places`. While it works, `places` holds a heap of candidates; its
// root is the candidate that comes last.
func (t *topping) line(values []float32, places []int64, x []float32) {
	best := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(places))), len(places))
	for i := range best {
		best[i] = t.key(x[i])<<32 | uint64(i)
	}
	if len(best) < len(x) {
		for i := len(best)/2 - 1; i >= 0; i-- {
			sift(best, i)
		}
		// An element equal to the root comes after it.
		least, bound := best[0]>>32, x[best[0]&(1<<32-1)]
		for first := len(best); first < len(x); first += topBlock {
			block := x[first:min(len(x), first+topBlock)]
			if nothingBeyond(block, bound, t.flip != 0) {
				continue
			}
			for i, v := range block {
				if t.flip == 0 && v <= bound || t.flip != 0 && v >= bound {
					continue
				}
				if key := t.key(v); key < least {
					best[0] = key<<32 | uint64(first+i)
					sift(best, 0)
					least, bound = best[0]>>32, x[best[0]&(1<<32-1)]
				}
			}
		}
	}
	slices.Sort(best)
	for i, b := range best {
		at := b & (1<<32 - 1)
		places[i], values[i] = int64(at), x[at]
	}
}

// topBlock is the number of elements that are compared together.
const topBlock = 64

// key returns the high half of an element's key. The element that comes first in the result has the
// smallest key.
func (t *topping) key(v float32) uint64 { return uint64(^float32Order(v) ^ t.flip) }

// float32Order maps floats to integers, so that greater floats have greater integers. 0 and −0 have
// the same integer, and NaN is larger than every number.
func float32Order(v float32) uint32 {
	b := math.Float32bits(v + 0)
	if v != v {
		return 1<<32 - 1
	}
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}

// sift moves element i of a heap down until no child is larger.
func sift(heap []uint64, i int) {
	v := heap[i]
	for {
		child := 2*i + 1
		if child >= len(heap) {
			break
		}
		if child+1 < len(heap) && heap[child+1] > heap[child] {
			child++
		}
		if heap[child] <= v {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	heap[i] = v
}
