package batch

import (
	"encoding/binary"
	"slices"
)

var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// appendBits appends an integer in the machine's byte order.
func appendBits(out []byte, v uint64, bits int) []byte {
	switch bits {
	case 8:
		return append(out, byte(v))
	case 16:
		return binary.NativeEndian.AppendUint16(out, uint16(v))
	case 32:
		return binary.NativeEndian.AppendUint32(out, uint32(v))
	}
	return binary.NativeEndian.AppendUint64(out, v)
}

// littleEndian changes elements of this size from the machine's byte order to little-endian, or back.
func littleEndian(data []byte, size int) {
	if bigEndian && size > 1 {
		for element := range slices.Chunk(data, size) {
			slices.Reverse(element)
		}
	}
}
