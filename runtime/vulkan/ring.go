package vulkan

// ring hands out parts of a piece of memory in turn. Parts are taken back in the same order.
type ring struct {
	piece
	// head and tail count bytes from the start of time; what lies between them is handed out. A part
	// is at its count modulo the size.
	head, tail int64
}

// take hands out n bytes in a row, and returns their offset in the piece. It returns false if they
// are not free.
func (r *ring) take(n int) (offset int64, ok bool) {
	n64 := (int64(n) + 15) &^ 15
	start := r.head
	if left := r.size - start%r.size; left < n64 {
		start += left // the end is too short: leave it out
	}
	if start+n64-r.tail > r.size {
		return 0, false
	}
	r.head = start + n64
	return start % r.size, true
}
