package rt

import "math"

// Layout places buffers in an arena: buffer i takes bytes[i] bytes from step
// first[i] to step last[i], and two buffers share memory only when they have no
// step in common. It writes their offsets, multiples of 64, and returns the
// arena's size. The slices have one length; Layout allocates nothing.
//
// The largest buffer is placed first, each at the smallest gap between those
// already placed that it fits, else at the lowest free place: the greedy-by-size
// scheme of Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net
// Inference (2020).
func Layout(bytes []int64, first, last []int32, offsets []int64) int64 {
	const unplaced = -1
	for i := range offsets {
		offsets[i] = unplaced
	}
	var total int64
	for range bytes {
		next := -1
		for i, b := range bytes {
			if offsets[i] == unplaced && (next < 0 || b > bytes[next]) {
				next = i
			}
		}
		offsets[next] = place(next, bytes, first, last, offsets)
		total = max(total, offsets[next]+bytes[next])
	}
	return total
}

// place returns the offset of buffer b among those that have one.
func place(b int, bytes []int64, first, last []int32, offsets []int64) int64 {
	best, bestGap := int64(-1), int64(math.MaxInt64)
	at := int64(0)
	for {
		// The next neighbour is the lowest one that ends above at.
		next := -1
		for i, o := range offsets {
			if o >= 0 && i != b && bytes[i] > 0 && first[i] <= last[b] && first[b] <= last[i] && o+bytes[i] > at && (next < 0 || o < offsets[next]) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		if gap := offsets[next] - at; gap >= bytes[b] && gap < bestGap {
			best, bestGap = at, gap
		}
		at = max(at, (offsets[next]+bytes[next]+alignment-1)/alignment*alignment)
	}
	if best >= 0 {
		return best
	}
	return at
}
