package metric

import (
	"encoding/binary"
	"math"
)

type numbers struct {
	ints   []int64
	floats []float64
}

// bytes returns the numbers as little-endian words of 8 bytes, in this order: the number of
// integers, the integers, the floats.
func (n numbers) bytes() []byte {
	b := make([]byte, 0, 8*(1+len(n.ints)+len(n.floats)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(n.ints)))
	for _, v := range n.ints {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	for _, v := range n.floats {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// readNumbers decodes the result of [numbers.bytes]. It returns an error if b has another form or
// an integer is negative.
func readNumbers(b []byte) (numbers, error) {
	if len(b) < 8 || len(b)%8 != 0 {
		return numbers{}, errSaved
	}
	count := binary.LittleEndian.Uint64(b)
	b = b[8:]
	if count > uint64(len(b)/8) {
		return numbers{}, errSaved
	}
	n := numbers{ints: make([]int64, count), floats: make([]float64, uint64(len(b)/8)-count)}
	for i := range n.ints {
		if n.ints[i] = int64(binary.LittleEndian.Uint64(b[8*i:])); n.ints[i] < 0 {
			return numbers{}, errSaved
		}
	}
	b = b[8*count:]
	for i := range n.floats {
		n.floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return n, nil
}

// take removes n elements from the front of *list. It returns false if there are fewer.
func take[E any](list *[]E, n int64) (front []E, ok bool) {
	if n < 0 || n > int64(len(*list)) {
		return nil, false
	}
	front = (*list)[:n:n]
	*list = (*list)[n:]
	return front, true
}
