package untyped

import (
	"encoding/binary"
	"slices"
)

// BigEndian reports whether native byte order is big-endian.
var BigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// Store stores the lower `size` bytes of a number at the start of dst, in native byte order. size is 1, 2, 4 or 8.
func Store(dst []byte, size int, bits uint64) {
	switch size {
	case 1:
		dst[0] = byte(bits)
	case 2:
		binary.NativeEndian.PutUint16(dst, uint16(bits))
	case 4:
		binary.NativeEndian.PutUint32(dst, uint32(bits))
	default:
		binary.NativeEndian.PutUint64(dst, bits)
	}
}

// TurnLittleEndian converts elements in place from native byte order to little-endian, or back. size is the size of an
// element in bytes.
func TurnLittleEndian(data []byte, size int) {
	if !BigEndian || size < 2 {
		return
	}
	for i := 0; i+size <= len(data); i += size {
		slices.Reverse(data[i : i+size])
	}
}
