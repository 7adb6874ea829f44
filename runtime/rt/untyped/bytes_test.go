package untyped

import (
	"encoding/binary"
	"slices"
	"testing"
)

// TestStore stores numbers, and turns them to little-endian and back.
func TestStore(t *testing.T) {
	const bits = 0x0123456789abcdef
	for _, size := range []int{1, 2, 4, 8} {
		data := make([]byte, 2*size)
		Store(data[size:], size, bits)
		native := slices.Clone(data)
		TurnLittleEndian(data, size)
		if got, want := data[size:], binary.LittleEndian.AppendUint64(nil, bits)[:size]; !slices.Equal(got, want) {
			t.Errorf("size %d: %x, want %x", size, got, want)
		}
		if TurnLittleEndian(data, size); !slices.Equal(data, native) {
			t.Errorf("size %d: turned back %x, want %x", size, data, native)
		}
	}
}
