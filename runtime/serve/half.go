package serve

import (
	"math"
	"math/big"
	"strconv"

	"github.com/burngen/burngen/runtime/rt"
)

// half is a float type of 16 bits.
type half[T any] struct {
	round func(float32) T
	widen func(T) float32
	// the power of two that follows the greatest finite number
	limit float64
}

var (
	float16  = half[rt.Float16]{rt.ToFloat16, rt.Float16.Float32, 1 << 16}
	bfloat16 = half[rt.BFloat16]{rt.ToBFloat16, rt.BFloat16.Float32, 1 << 127 * 2}
)

// parse returns the number of type T nearest to text, a number in JSON. If two numbers are equally near, it returns
// the one whose last bit is 0. ok is false if the nearest number is infinite.
func (h half[T]) parse(text string) (v T, ok bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return v, false
	}
	v = h.nearest(f, text)
	return v, !math.IsInf(float64(h.widen(v)), 0)
}

// nearest returns the number nearest to text, see parse. f is the float64 nearest to text.
func (h half[T]) nearest(f float64, text string) T {
	x := float32(f)
	below, above := h.round(math.Nextafter32(x, float32(math.Inf(-1)))), h.round(math.Nextafter32(x, float32(math.Inf(1))))
	if float64(x) != h.between(below, above) {
		return h.round(x)
	}
	// x is half-way between two numbers, and text may not be
	side := 0
	if f != float64(x) {
		side = big.NewFloat(f).Cmp(big.NewFloat(float64(x)))
	} else if exact, ok := new(big.Rat).SetString(text); ok {
		side = exact.Cmp(new(big.Rat).SetFloat64(f))
	}
	switch {
	case side < 0:
		return below
	case side > 0:
		return above
	}
	return h.round(x)
}

// between returns (a + b) / 2. If a or b is infinite, it stands for ±limit.
func (h half[T]) between(a, b T) float64 {
	bounded := func(v T) float64 { return max(-h.limit, min(h.limit, float64(h.widen(v)))) }
	return (bounded(a) + bounded(b)) / 2
}
