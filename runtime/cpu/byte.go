package cpu

import "unsafe"

// Byte is the constraint of integers of 8 bits.
type Byte interface {
	int8 | uint8
}

func bytesOf[T Byte](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

func signed[T Byte]() bool { return T(0)-1 < 0 }

// flip returns the byte that converts elements from S to D by an xor. It is 0x80, which shifts a
// value by 128, if exactly one of the types is signed. Otherwise it is 0.
func flip[D, S Byte]() byte {
	if signed[D]() != signed[S]() {
		return 0x80
	}
	return 0
}

// sumOf returns the sum of the bytes s. They are int8 if signed is true, and otherwise uint8.
func sumOf(s []byte, signed bool) (sum int32) {
	if signed {
		for _, v := range s {
			sum += int32(int8(v))
		}
		return sum
	}
	for _, v := range s {
		sum += int32(v)
	}
	return sum
}

func number8(v byte, signed bool) int32 {
	if signed {
		return int32(int8(v))
	}
	return int32(v)
}
