package serve

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

type tensor struct {
	port  *port
	shape []int
	// elements in native byte order, unless they are strings
	data []byte
	// elements that are strings
	texts []string
}

const maxRank = 32

// elements returns the product of a shape's extents. size is the size of an element in bytes.
// elements returns an error if an extent is negative, or if the size of all elements overflows an
// int.
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

func (t *tensor) len() int {
	if t.port.isText() {
		return len(t.texts)
	}
	return len(t.data) / t.port.size
}

// items returns the part of t with indices [from, to) along the first axis. It shares memory with
// t.
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

// bigEndian reports whether native byte order differs from the protocol's.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// turn converts elements in place between little-endian, the byte order of the protocol, and the
// native byte order. size is the size of an element in bytes.
func turn(data []byte, size int) {
	if !bigEndian || size < 2 {
		return
	}
	for i := 0; i+size <= len(data); i += size {
		slices.Reverse(data[i : i+size])
	}
}

// normaliseBools replaces nonzero bytes by 1, because a Go bool is 0 or 1.
func normaliseBools(data []byte) {
	for i, b := range data {
		if b > 1 {
			data[i] = 1
		}
	}
}
