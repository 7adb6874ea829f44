package vulkan

// ring hands out parts of a piece of memory in turn. Parts are taken back in the same order.
type ring struct {
	piece
	// head counts the bytes handed out since the start, and tail the bytes taken back. A part is at
	// its count modulo the size.
	head, tail int64
}

// take hands out n adjacent bytes and returns their offset in the piece. ok is false if there is no
// room.
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
