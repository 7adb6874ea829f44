package elementary

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

type layout struct {
	signed, unsigned ir.DType // the integers of the same width
	fraction         int      // the bits of the significand behind the point
	bias             int      // what is added to the exponent; the greatest exponent is also this
	low              int      // the bits that [calc.head] clears
}

var layouts = map[ir.DType]layout{
	ir.F32: {ir.I32, ir.U32, 23, 127, 12},
	ir.F64: {ir.I64, ir.U64, 52, 1023, 27},
}

// calc builds code on floats of one type.
type calc struct {
	*kernel.Builder
	layout
	d ir.DType
}

func on(b *kernel.Builder, x *kernel.Value) calc {
	d := x.Type.DType
	return calc{b, layouts[d], d}
}

func (c calc) single() bool { return c.d == ir.F32 }

func (c calc) num(x float64) *kernel.Value { return c.Float(c.d, x) }

func (c calc) nan() *kernel.Value { return c.num(math.NaN()) }

func (c calc) inf() *kernel.Value { return c.num(math.Inf(1)) }

func (c calc) whole(n int) *kernel.Value { return c.Whole(c.signed, int64(n)) }

func (c calc) limit(f32, f64 float64) *kernel.Value {
	if c.single() {
		return c.num(f32)
	}
	return c.num(f64)
}

// series holds the coefficients of a polynomial in f32 and in f64, the constant term first.
type series struct{ f32, f64 []float64 }

func (s series) of(c calc) []float64 {
	if c.single() {
		return s.f32
	}
	return s.f64
}

func (c calc) polynomial(x *kernel.Value, s series) *kernel.Value { return c.horner(x, s.of(c)) }

func (c calc) horner(x *kernel.Value, list []float64) *kernel.Value {
	p := c.num(list[len(list)-1])
	for i := len(list) - 2; i >= 0; i-- {
		p = c.Fma(p, x, c.num(list[i]))
	}
	return p
}

// odd returns x + x·z·s(z), where z = x². s holds the coefficients of the polynomial s(z).
func (c calc) odd(x *kernel.Value, s series) *kernel.Value {
	z := c.Mul(x, x)
	return c.Fma(c.Mul(x, z), c.polynomial(z, s), x)
}

// atMost returns min(x, bound), or NaN if x is NaN.
func (c calc) atMost(bound, x *kernel.Value) *kernel.Value { return c.Min(bound, x) }

// atLeast returns max(x, bound), or NaN if x is NaN.
func (c calc) atLeast(bound, x *kernel.Value) *kernel.Value { return c.Max(bound, x) }

// over returns x/y with an error of at most 1.5 units in the last place. y and 1/y must be normal
// floats.
func (c calc) over(x, y *kernel.Value) *kernel.Value {
	w := c.Div(c.num(1), y)
	q := c.Mul(x, w)
	return c.Fma(c.Fma(c.Neg(q), y, x), w, q)
}

// sign returns an unsigned integer with the sign bit of x. Its other bits are 0.
func (c calc) sign(x *kernel.Value) *kernel.Value {
	return c.And(c.Bitcast(c.unsigned, x), c.Whole(c.unsigned, 1<<(c.d.Bits()-1)))
}

// flip changes the sign of x if the sign bit of sign is set. sign is an unsigned integer whose other bits are 0.
func (c calc) flip(x, sign *kernel.Value) *kernel.Value {
	return c.Bitcast(c.d, c.Binary(kernel.Xor, c.Bitcast(c.unsigned, x), sign))
}

// power returns 2ⁿ for a signed integer n. 2ⁿ must be a normal float.
func (c calc) power(n *kernel.Value) *kernel.Value {
	return c.Bitcast(c.d, c.Binary(kernel.Shl, c.Add(n, c.whole(c.bias)), c.whole(c.fraction)))
}

// scale returns x·2ⁿ. It multiplies by two powers of two, each about 2^(n/2), because 2ⁿ itself may not be a normal
// float. So |n| may be up to twice the largest exponent of a normal float.
func (c calc) scale(x, n *kernel.Value) *kernel.Value {
	half := c.Binary(kernel.Shr, n, c.whole(1))
	return c.Mul(c.Mul(x, c.power(half)), c.power(c.Sub(n, half)))
}

// shifted returns x·2⁻ⁿ. It subtracts n from the exponent bits, so x and the result must be normal, unless n is 0.
func (c calc) shifted(x, n *kernel.Value) *kernel.Value {
	return c.Bitcast(c.d, c.Sub(c.Bitcast(c.signed, x), c.Binary(kernel.Shl, n, c.whole(c.fraction))))
}
