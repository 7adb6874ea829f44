package rt

import "math"

// These are the floating-point types of 8 and 4 bits. Their names give the widths of exponent and
// mantissa. FN types do not have infinities. FNUZ types do not have infinities or a negative zero;
// their only NaN has the code that would be negative zero. Each conversion function says how it
// rounds, and what NaN and values past the largest finite number become. All conversions follow ONNX
// Cast and its tests.
type (
	// Float8E4M3FN has a largest value of 448 and has NaNs.
	Float8E4M3FN uint8
	// Float8E4M3FNUZ has a largest value of 240 and a NaN.
	Float8E4M3FNUZ uint8
	// Float8E5M2 has a largest value of 57344, and infinities and NaNs as in IEEE 754.
	Float8E5M2 uint8
	// Float8E5M2FNUZ has a largest value of 57344 and a NaN.
	Float8E5M2FNUZ uint8
	// Float8E8M0 is a power of two from 2⁻¹²⁷ to 2¹²⁷, or NaN. It has no sign and no zero.
	Float8E8M0 uint8
	// Float4E2M1 is one of 0, ½, 1, 1½, 2, 3, 4, 6 and their negatives, in the
	// low 4 bits.
	Float4E2M1 uint8
)

// minifloat is a signed floating-point format of at most 8 bits.
type minifloat struct {
	bits, mantissa int
	bias           int
	max            uint8 // code of the largest finite number
	inf            uint8 // code of +∞, 0 if the type has no infinity
	nan            uint8 // code of NaN, without its sign if it has one; 0 if the type has no NaN
	unsigned       bool  // FNUZ: neither zero nor NaN has a sign
}

var (
	e4m3fn   = minifloat{bits: 8, mantissa: 3, bias: 7, max: 0x7e, nan: 0x7f}
	e4m3fnuz = minifloat{bits: 8, mantissa: 3, bias: 8, max: 0x7f, nan: 0x80, unsigned: true}
	e5m2     = minifloat{bits: 8, mantissa: 2, bias: 15, max: 0x7b, inf: 0x7c, nan: 0x7e}
	e5m2fnuz = minifloat{bits: 8, mantissa: 2, bias: 16, max: 0x7f, nan: 0x80, unsigned: true}
	e2m1     = minifloat{bits: 4, mantissa: 1, bias: 1, max: 7}
)

func (m *minifloat) decode(code uint8) float32 {
	sign := uint32(code>>(m.bits-1)&1) << 31
	code &= 1<<(m.bits-1) - 1
	switch {
	case m.unsigned && sign != 0 && code == 0:
		return math.Float32frombits(0x7fc00000)
	case code > m.max && code == m.inf:
		return math.Float32frombits(sign | 0x7f800000)
	case code > m.max:
		return math.Float32frombits(sign | 0x7fc00000)
	case code>>m.mantissa == 0: // subnormal: a multiple of the last place
		place := math.Float32frombits(uint32(128-m.bias-m.mantissa) << 23)
		return math.Float32frombits(sign | math.Float32bits(float32(code)*place))
	}
	return math.Float32frombits(sign | uint32(code)<<(23-m.mantissa) + uint32(127-m.bias)<<23)
}

// encode returns the code of x, rounded to nearest, ties to even. A magnitude that rounds past max
// becomes max if saturate is true. Otherwise it becomes infinite or, if the type does not have
// infinities, NaN.
func (m *minifloat) encode(x float32, saturate bool) uint8 {
	b := math.Float32bits(x)
	sign := uint8(b>>31) << (m.bits - 1)
	b &= 0x7fffffff
	if b > 0x7f800000 {
		return m.nan | sign
	}
	var code uint32
	if b < uint32(128-m.bias)<<23 { // subnormal: a sum with big has the last place of the subnormals
		big := math.Float32frombits(uint32(128-m.bias-m.mantissa+23) << 23)
		code = math.Float32bits(math.Float32frombits(b)+big) - math.Float32bits(big)
	} else {
		drop := 23 - m.mantissa
		b -= uint32(127-m.bias) << 23
		code = (b + 1<<(drop-1) - 1 + b>>drop&1) >> drop
	}
	switch {
	case code <= uint32(m.max):
	case saturate:
		code = uint32(m.max)
	case m.inf != 0:
		code = uint32(m.inf)
	default:
		return m.nan | sign
	}
	if m.unsigned && code == 0 {
		return 0
	}
	return uint8(code) | sign
}

// Float32 returns the value of f, which a float32 represents exactly.
func (f Float8E4M3FN) Float32() float32 { return e4m3fn.decode(uint8(f)) }

// Float32 returns the value of f, which a float32 represents exactly.
func (f Float8E4M3FNUZ) Float32() float32 { return e4m3fnuz.decode(uint8(f)) }

// Float32 returns the value of f, which a float32 represents exactly.
func (f Float8E5M2) Float32() float32 { return e5m2.decode(uint8(f)) }

// Float32 returns the value of f, which a float32 represents exactly.
func (f Float8E5M2FNUZ) Float32() float32 { return e5m2fnuz.decode(uint8(f)) }

// Float32 returns the value of f, which a float32 represents exactly. The upper 4 bits of f are
// ignored.
func (f Float4E2M1) Float32() float32 { return e2m1.decode(uint8(f)) }

// Float32 returns the value of f, which a float32 represents exactly.
func (f Float8E8M0) Float32() float32 {
	switch f {
	case 0:
		return math.Float32frombits(1 << 22)
	case 0xff:
		return math.Float32frombits(0x7fc00000)
	}
	return math.Float32frombits(uint32(f) << 23)
}

// ToFloat8E4M3FN rounds x to nearest, ties to even. A magnitude that rounds past 448, or an
// infinity, becomes 448 with the sign of x if saturate is true, else NaN. NaN stays NaN.
func ToFloat8E4M3FN(x float32, saturate bool) Float8E4M3FN {
	return Float8E4M3FN(e4m3fn.encode(x, saturate))
}

// ToFloat8E4M3FNUZ rounds x to nearest, ties to even. A magnitude that rounds past 240, or an
// infinity, becomes 240 with the sign of x if saturate is true, else NaN. NaN stays NaN.
func ToFloat8E4M3FNUZ(x float32, saturate bool) Float8E4M3FNUZ {
	return Float8E4M3FNUZ(e4m3fnuz.encode(x, saturate))
}

// ToFloat8E5M2 rounds x to nearest, ties to even. A magnitude that rounds past 57344, or an
// infinity, becomes 57344 if saturate is true, else infinity. It keeps the sign of x. NaN stays NaN.
func ToFloat8E5M2(x float32, saturate bool) Float8E5M2 {
	return Float8E5M2(e5m2.encode(x, saturate))
}

// ToFloat8E5M2FNUZ rounds x to nearest, ties to even. A magnitude that rounds past 57344, or an
// infinity, becomes 57344 with the sign of x if saturate is true, else NaN. NaN stays NaN.
func ToFloat8E5M2FNUZ(x float32, saturate bool) Float8E5M2FNUZ {
	return Float8E5M2FNUZ(e5m2fnuz.encode(x, saturate))
}

// ToFloat4E2M1 rounds x to nearest, ties to even. A magnitude that rounds past 6, or an infinity,
// becomes 6 with the sign of x. NaN becomes negative zero, as in ONNX's tests.
func ToFloat4E2M1(x float32) Float4E2M1 {
	if x != x {
		return 8
	}
	return Float4E2M1(e2m1.encode(x, true))
}

// RoundMode selects how [ToFloat8E8M0] rounds a number between two powers of two.
type RoundMode uint8

// The values of attribute round_mode of ONNX Cast.
const (
	RoundUp      RoundMode = iota // to the next larger, the default
	RoundDown                     // to the next smaller
	RoundNearest                  // to the nearest, ties up
)

// ToFloat8E8M0 rounds the magnitude of x to a power of two, as mode says, and drops the sign.
// Magnitudes below 2⁻¹²⁷, including zero, become 2⁻¹²⁷. Magnitudes that round past 2¹²⁷ become 2¹²⁷
// if saturate is true, else NaN. Infinities and NaNs become NaN.
func ToFloat8E8M0(x float32, saturate bool, mode RoundMode) Float8E8M0 {
	b := math.Float32bits(x) & 0x7fffffff
	exp, frac := b>>23, b&(1<<23-1)
	if exp == 0xff {
		return 0xff
	}
	const half = 1 << 22
	if exp == 0 { // subnormal: 2⁻¹²⁷ is frac 2²², 2⁻¹²⁶ would be 2²³
		frac = (max(frac, half) - half) << 1
	}
	if mode == RoundUp && frac > 0 || mode == RoundNearest && frac >= half {
		exp++
	}
	if exp == 0xff && saturate {
		exp = 0xfe
	}
	return Float8E8M0(exp)
}
