package cpu

import (
	"math"
	"math/bits"
)

// MurmurHash3 computes the 32-bit MurmurHash3 of each element of src. It hashes the bytes of the
// element; the bytes of a number are little-endian.
func MurmurHash3[T int32 | uint32 | int64 | uint64 | float32 | float64 | string, R int32 | uint32](dst []R, src []T, seed uint32) {
	src = trim(src, len(dst))
	for i, v := range src {
		h := seed
		switch v := any(v).(type) {
		case int32:
			h = murmurWords(h, uint64(uint32(v)), 4)
		case uint32:
			h = murmurWords(h, uint64(v), 4)
		case float32:
			h = murmurWords(h, uint64(math.Float32bits(v)), 4)
		case int64:
			h = murmurWords(h, uint64(v), 8)
		case uint64:
			h = murmurWords(h, v, 8)
		case float64:
			h = murmurWords(h, math.Float64bits(v), 8)
		case string:
			h = murmurText(h, v)
		}
		dst[i] = R(h)
	}
}

// murmurWords hashes the lowest bytes of x; `bytes` is their number, 4 or 8. h is the seed.
func murmurWords(h uint32, x uint64, bytes int) uint32 {
	h = murmurWord(h, uint32(x))
	if bytes == 8 {
		h = murmurWord(h, uint32(x>>32))
	}
	return murmurEnd(h, bytes)
}

// murmurText hashes the bytes of s. h is the seed.
func murmurText(h uint32, s string) uint32 {
	n := len(s)
	for ; len(s) >= 4; s = s[4:] {
		h = murmurWord(h, uint32(s[0])|uint32(s[1])<<8|uint32(s[2])<<16|uint32(s[3])<<24)
	}
	rest := uint32(0)
	for i := range len(s) {
		rest |= uint32(s[i]) << (8 * i)
	}
	return murmurEnd(h^murmurMix(rest), n)
}

func murmurWord(h, word uint32) uint32 {
	return bits.RotateLeft32(h^murmurMix(word), 13)*5 + 0xe6546b64
}

func murmurMix(word uint32) uint32 { return bits.RotateLeft32(word*0xcc9e2d51, 15) * 0x1b873593 }

func murmurEnd(h uint32, n int) uint32 {
	h ^= uint32(n)
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}
