package serve

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// tensor is an input or output of a call. Numbers are in data, in the order of bytes of the machine;
// strings are in texts.
type tensor struct {
	port  *port
	shape []int
	data  []byte
	texts []string
}

// maxRank is the largest number of dimensions of a tensor in a request.
const maxRank = 32

// elements returns the product of the extents of shape, whose elements have size bytes. It returns an
// error if an extent is negative or the bytes overflow an int.
func elements(shape []int, size int) (int, error) {
	n := max(1, size)
	empty := false
	for _, d := range shape {
		switch {
		case d < 0:
			return 0, fmt.Errorf("shape %v has a negative extent", shape)
		case d == 0:
			empty = true
		case n > math.MaxInt/d:
			return 0, fmt.Errorf("shape %v has more elements than fit memory", shape)
		default:
			n *= d
		}
	}
	if empty {
		return 0, nil
	}
	return n / max(1, size), nil
}

// len returns the number of elements that the tensor holds.
func (t *tensor) len() int {
	if t.port.isText() {
		return len(t.texts)
	}
	return len(t.data) / t.port.size
}

// items returns the part of a tensor from one item of its first axis to another.
func (t *tensor) items(from, to int) tensor {
	part := tensor{port: t.port, shape: slices.Clone(t.shape)}
	n := t.shape[0]
	part.shape[0] = to - from
	if n == 0 {
		return part
	}
	if t.port.isText() {
		each := len(t.texts) / n
		part.texts = t.texts[from*each : to*each]
	} else {
		each := len(t.data) / n
		part.data = t.data[from*each : to*each]
	}
	return part
}

// bigEndian says that the machine's order of bytes is not the protocol's.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// turn converts elements of size bytes between the protocol's order of bytes and the machine's, in
// place.
func turn(data []byte, size int) {
	if !bigEndian || size < 2 {
		return
	}
	for i := 0; i+size <= len(data); i += size {
		slices.Reverse(data[i : i+size])
	}
}

// isTruth sets any byte but 0 to 1, in place: a bool of Go has no other values.
func isTruth(data []byte) {
	for i, b := range data {
		if b > 1 {
			data[i] = 1
		}
	}
}
