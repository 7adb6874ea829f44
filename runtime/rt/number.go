package rt

import "math"

// Hash returns 32 pseudo-random bits for seed and i. It applies the finaliser of MurmurHash3
// (Appleby, 2011) to i + 0x9e3779b9·seed. Calls do not share state, so the result does not depend on
// their order or on the number of goroutines.
func Hash(seed, i uint32) uint32 {
	x := i + seed*0x9e3779b9
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= x >> 13
	x *= 0xc2b2ae35
	return x ^ x>>16
}

// Uniform fills dst with pseudo-random numbers from lo to hi. Element i is lo + (hi-lo)·u, computed
// in 64 bits, where u in [0, 1) comes from the upper 24 bits of Hash(seed, i). For a floating-point
// type, the number is rounded to float32 and then to nearest in the type; for [Float8E8M0] it is
// rounded up. Floats of 8 and 4 bits saturate. For an integer type, the number is rounded down. A
// bool is true if the number rounded down is not 0.
func Uniform[T Number | bool](dst []T, lo, hi float64, seed uint32) {
	switch dst := any(dst).(type) {
	case []float32:
		fill(dst, lo, hi, seed, func(x float64) float32 { return float32(x) })
	case []float64:
		fill(dst, lo, hi, seed, func(x float64) float64 { return float64(float32(x)) })
	case []Float16:
		fill(dst, lo, hi, seed, func(x float64) Float16 { return ToFloat16(float32(x)) })
	case []BFloat16:
		fill(dst, lo, hi, seed, func(x float64) BFloat16 { return ToBFloat16(float32(x)) })
	case []Float8E4M3FN:
		fill(dst, lo, hi, seed, func(x float64) Float8E4M3FN { return ToFloat8E4M3FN(float32(x), true) })
	case []Float8E4M3FNUZ:
		fill(dst, lo, hi, seed, func(x float64) Float8E4M3FNUZ { return ToFloat8E4M3FNUZ(float32(x), true) })
	case []Float8E5M2:
		fill(dst, lo, hi, seed, func(x float64) Float8E5M2 { return ToFloat8E5M2(float32(x), true) })
	case []Float8E5M2FNUZ:
		fill(dst, lo, hi, seed, func(x float64) Float8E5M2FNUZ { return ToFloat8E5M2FNUZ(float32(x), true) })
	case []Float8E8M0:
		fill(dst, lo, hi, seed, func(x float64) Float8E8M0 { return ToFloat8E8M0(float32(x), true, RoundUp) })
	case []Float4E2M1:
		fill(dst, lo, hi, seed, func(x float64) Float4E2M1 { return ToFloat4E2M1(float32(x)) })
	case []int8:
		fill(dst, lo, hi, seed, func(x float64) int8 { return int8(floor(x)) })
	case []int16:
		fill(dst, lo, hi, seed, func(x float64) int16 { return int16(floor(x)) })
	case []int32:
		fill(dst, lo, hi, seed, func(x float64) int32 { return int32(floor(x)) })
	case []int64:
		fill(dst, lo, hi, seed, floor)
	case []uint8:
		fill(dst, lo, hi, seed, func(x float64) uint8 { return uint8(floor(x)) })
	case []uint16:
		fill(dst, lo, hi, seed, func(x float64) uint16 { return uint16(floor(x)) })
	case []uint32:
		fill(dst, lo, hi, seed, func(x float64) uint32 { return uint32(floor(x)) })
	case []uint64:
		fill(dst, lo, hi, seed, func(x float64) uint64 { return uint64(floor(x)) })
	case []bool:
		fill(dst, lo, hi, seed, func(x float64) bool { return floor(x) != 0 })
	}
}

func fill[T any](dst []T, lo, hi float64, seed uint32, convert func(float64) T) {
	for i := range dst {
		u := float64(Hash(seed, uint32(i))>>8) / (1 << 24)
		dst[i] = convert(lo + float64((hi-lo)*u))
	}
}

func floor(x float64) int64 { return int64(math.Floor(x)) }
