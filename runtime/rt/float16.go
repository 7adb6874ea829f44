package rt

import "math"

// Float16 is an IEEE 754 binary16 number: 5 bits of exponent, 10 of mantissa.
type Float16 uint16

// BFloat16 is the upper half of an IEEE 754 binary32 number: 8 bits of exponent,
// 7 of mantissa.
type BFloat16 uint16

// Float32 returns the value of h, which a float32 represents exactly. A NaN keeps its sign and
// payload.
func (h Float16) Float32() float32 {
	const (
		scale = 1 << (127 - 15) // from the bias of binary16 to that of binary32
		past  = 1 << 16         // the least value of infinities and NaNs after scaling
	)
	f := math.Float32frombits(uint32(h&0x7fff)<<13) * scale
	b := math.Float32bits(f)
	if f >= past {
		b |= 0xff << 23
	}
	return math.Float32frombits(b | uint32(h&0x8000)<<16)
}

// ToFloat16 rounds x to the nearest binary16, ties to even, as ONNX Cast does. Magnitudes of 65520
// and more become infinite. A NaN becomes quiet and keeps its sign and the upper bits of its
// payload.
func ToFloat16(x float32) Float16 {
	b := math.Float32bits(x)
	sign := Float16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return sign | 0x7e00 | Float16(b>>13&0x3ff)
	case b >= 0x47800000: // 2¹⁶
		return sign | 0x7c00
	case b < 0x38800000: // 2⁻¹⁴: a sum with ½ has the last place of the subnormals
		return sign | Float16(math.Float32bits(math.Float32frombits(b)+0.5)-math.Float32bits(0.5))
	}
	b -= (127 - 15) << 23
	return sign | Float16((b+0xfff+b>>13&1)>>13)
}

// Float32 returns the value of h, which a float32 represents exactly.
func (h BFloat16) Float32() float32 { return math.Float32frombits(uint32(h) << 16) }

// ToBFloat16 rounds x to the nearest bfloat16, ties to even, as ONNX Cast does. Magnitudes that
// round past the largest finite number become infinite. A NaN becomes quiet and keeps its sign and
// the upper bits of its payload.
func ToBFloat16(x float32) BFloat16 {
	b := math.Float32bits(x)
	if b&0x7fffffff > 0x7f800000 {
		return BFloat16(b>>16 | 0x40)
	}
	return BFloat16((b + 0x7fff + b>>16&1) >> 16)
}

// RoundToOdd returns x if a float32 can hold it, else the neighbouring float32 whose last bit is
// set. NaN stays NaN. A finite x beyond the range of float32 becomes the largest float32, with the
// sign of x. Rounding the result again to a narrower type equals rounding x directly, so
// ToFloat16(RoundToOdd(x)) has no double rounding.
func RoundToOdd(x float64) float32 {
	f := float32(x)
	if float64(f) == x || x != x {
		return f
	}
	b := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(x) {
		b-- // toward zero: the neighbours of x are b and b+1
	}
	return math.Float32frombits(b | 1)
}
