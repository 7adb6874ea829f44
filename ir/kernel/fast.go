package kernel

import "math"

// exp2 takes the bits of an f32, x. It returns the bits of 2^x, rounded to an f32.
func exp2(x uint64) uint64 { return encode(float32(math.Exp2(float64(decode[float32](x))))) }

// greater returns the result of [Greater] for two f32. x, y and the result are bits.
func greater(x, y uint64) uint64 {
	a, b := decode[float32](x), decode[float32](y)
	if a > b || b != b {
		return x
	}
	return y
}
