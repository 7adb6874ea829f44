package rt

import (
	"cmp"
	"math"
	"slices"
)

const (
	// layoutRoom is the number of buffers that Layout places without allocating.
	layoutRoom = 512
	// Layout places the buffers again at most layoutWork / n² times, where n is the number of
	// buffers. The quotient is clamped to the range from layoutTriesMin to layoutTriesMax.
	layoutTriesMin, layoutTriesMax = 4, 32
	layoutWork                     = 4_000_000
)

// Layout places buffers in an arena. Buffer i takes bytes[i] bytes from step first[i] to step
// last[i]. Two buffers may share memory only if they have no step in common. Layout writes the
// offsets in bytes, which are multiples of 64, and returns the size of the arena in bytes. If the sum
// of the sizes overflows 64 bits, it returns math.MaxInt64 and does not write offsets. Sizes of 0 and
// below take no memory. The slices must have equal lengths. Layout does not allocate for up to 512
// buffers.
//
// Buffers are placed one after the other, each at the lowest offset that is free during its life. For
// each buffer, Layout finds the step of its life with the most live bytes. Buffers with more live
// bytes there come first, and larger buffers before smaller ones (greedy by breadth; Pisarchyk and
// Lee, Efficient Memory Management for Deep Neural Net Inference, 2020). The arena cannot be smaller
// than the most live bytes at any step. While it is larger, Layout places all buffers again, but
// moves the buffer at the end of the arena to an earlier place in the order. It does so a bounded
// number of times, and keeps the smallest arena.
func Layout(bytes []int64, first, last []int32, offsets []int64) int64 {
	var room struct {
		order, placed [layoutRoom]int32
		trial         [layoutRoom]int64
	}
	n := len(bytes)
	l := layout{bytes: bytes, first: first, last: last, order: room.order[:], placed: room.placed[:], offsets: room.trial[:]}
	if n > layoutRoom {
		l.order, l.placed, l.offsets = make([]int32, n), make([]int32, n), make([]int64, n)
	}
	l.order, l.offsets = l.order[:n], l.offsets[:n]
	if !l.fits() {
		return math.MaxInt64
	}
	live := l.sort(offsets)
	best, top := l.place()
	copy(offsets, l.offsets)
	tries := min(max(layoutWork/max(int64(n)*int64(n), 1), layoutTriesMin), layoutTriesMax)
	for try := int64(0); try < tries && best > live; try++ {
		to := 0
		if try%2 == 1 {
			to = top / 2
		}
		b := l.order[top]
		copy(l.order[to+1:top+1], l.order[to:top])
		l.order[to] = b
		var size int64
		if size, top = l.place(); size < best {
			best = size
			copy(offsets, l.offsets)
		}
	}
	return best
}

type layout struct {
	bytes       []int64
	first, last []int32
	order       []int32 // order in which buffers are placed
	placed      []int32 // placed buffers, sorted by offset
	offsets     []int64
}

// fits reports whether the sum of all sizes, rounded up to multiples of 64, fits an int64.
func (l *layout) fits() bool {
	left := int64(math.MaxInt64)
	for _, b := range l.bytes {
		if b > left-alignment {
			return false
		}
		left -= max(0, (b+alignment-1)/alignment*alignment)
	}
	return true
}

// size returns the bytes that buffer i takes, rounded up to a multiple of 64.
func (l *layout) size(i int32) int64 {
	return max(0, (l.bytes[i]+alignment-1)/alignment*alignment)
}

// meet reports whether two buffers are alive at the same step.
func (l *layout) meet(i, j int32) bool {
	return l.first[i] <= l.last[j] && l.first[j] <= l.last[i]
}

// sort orders the buffers for `place`. For each buffer it finds the most bytes that are live at a
// step of its life. It sorts by this number and then by size, both descending. It returns the most
// bytes that are live at any step. crowd is scratch memory with an element for each buffer.
func (l *layout) sort(crowd []int64) (live int64) {
	for i, at := range l.first {
		crowd[i] = 0
		for j := range l.first {
			if l.first[j] <= at && at <= l.last[j] {
				crowd[i] += l.size(int32(j))
			}
		}
		live = max(live, crowd[i])
	}
	most := l.offsets // scratch memory until the method place writes the offsets
	for i := range most {
		l.order[i], most[i] = int32(i), 0
		for j, at := range l.first {
			if l.first[i] <= at && at <= l.last[i] {
				most[i] = max(most[i], crowd[j])
			}
		}
	}
	slices.SortFunc(l.order, func(i, j int32) int {
		return cmp.Or(cmp.Compare(most[j], most[i]), cmp.Compare(l.bytes[j], l.bytes[i]), cmp.Compare(i, j))
	})
	return live
}

// place assigns an offset to every buffer. It returns the size of the arena in bytes, and the
// position in l.order of the first buffer that ends at the end of the arena.
func (l *layout) place() (size int64, top int) {
	count := 0
	for k, b := range l.order {
		need, at := l.size(b), int64(0)
		if need == 0 {
			l.offsets[b] = 0
			continue
		}
		for _, p := range l.placed[:count] {
			if !l.meet(p, b) {
				continue
			}
			if l.offsets[p]-at >= need {
				break
			}
			at = max(at, l.offsets[p]+l.size(p))
		}
		l.offsets[b] = at
		i := count
		for ; i > 0 && l.offsets[l.placed[i-1]] > at; i-- {
			l.placed[i] = l.placed[i-1]
		}
		l.placed[i] = b
		count++
		if end := at + need; end > size {
			size, top = end, k
		}
	}
	return size, top
}
