package vulkan

// ring allocates parts of a piece cyclically. Parts are freed in the order of allocation.
type ring struct {
	piece
	// head is the number of all bytes allocated so far, and tail the number of all bytes freed. A
	// part that began at count h is at offset h modulo the size.
	head, tail int64
}

// take allocates n adjacent bytes and returns their offset in the piece. ok is false if there is
// not enough free memory.
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
