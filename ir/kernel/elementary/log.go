package elementary

import (
	"math"

	"github.com/burngen/burngen/ir/kernel"
)

// logTail approximates (log(1 + f) − f + f²/2)/f³ for √½ ≤ 1 + f ≤ √2, as a polynomial in f.
var logTail = series{
	f32: []float64{
		0.3333333168, -0.2500082251, 0.2000123004, -0.1662330267, 0.1420163958, -0.1316064006,
		0.1276273506, -0.0763473872,
	},
	f64: []float64{
		0.333333333333326708, -0.250000000003474762, 0.200000000006970378, -0.166666665942944317,
		0.142857141264958415, -0.125000054556890875, 0.11111125387785602, -0.0999980084494002793,
		0.090902816952947588, -0.0833711631988377979, 0.077071022223662757, -0.0710856302219864715,
		0.0647801625719429983, -0.063099044920760253, 0.0705980444067082794, -0.0666473003207228048,
		0.0307193071697443559,
	},
}

// exponent returns an integer n for which x·2⁻ⁿ is from √½ to √2. x must be positive and normal.
func (c calc) exponent(x *kernel.Value) *kernel.Value {
	rootHalf := c.Bitcast(c.signed, c.num(math.Sqrt2/2))
	return c.Binary(kernel.Shr, c.Sub(c.Bitcast(c.signed, x), rootHalf), c.whole(c.fraction))
}

// parts writes x as m·2ⁿ, with m from √½ to √2 and an integer n. x must be positive and finite.
func (c calc) parts(x *kernel.Value) (m, n *kernel.Value) {
	up := c.fraction + 1
	small := c.Lt(x, c.num(math.Ldexp(1, 1-c.bias)))
	x = c.Select(small, c.Mul(x, c.num(math.Ldexp(1, up))), x)
	n = c.exponent(x)
	return c.shifted(x, n), c.Select(small, c.Sub(n, c.whole(up)), n)
}

// logOf returns log((1 + f)·2ⁿ) for √½ ≤ 1 + f ≤ √2.
func (c calc) logOf(f, n *kernel.Value) *kernel.Value {
	ln2 := c.ln2()
	k := c.Convert(c.d, n)
	tail := c.Mul(c.Mul(f, f), c.Fma(f, c.polynomial(f, logTail), c.num(-0.5)))
	tail = c.Fma(k, ln2.lo, tail)
	return c.Fma(k, ln2.hi, c.Add(f, tail))
}

// Log returns the natural logarithm of x. It is −Inf for 0, and NaN for negative numbers.
func Log(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	m, n := c.parts(x)
	y := c.logOf(c.Sub(m, c.num(1)), n)
	y = c.Select(c.Lt(x, c.inf()), y, x)
	y = c.Select(c.Eq(x, c.num(0)), c.num(math.Inf(-1)), y)
	return c.Select(c.Lt(x, c.num(0)), c.nan(), y)
}

// Log1p returns log(1 + x).
func Log1p(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	return c.log1p(x)
}

func (c calc) log1p(x *kernel.Value) *kernel.Value {
	one := c.num(1)
	n := c.exponent(c.Add(one, x))
	// f = x·2⁻ⁿ + (2⁻ⁿ − 1) is rounded once; where 2⁻ⁿ is not exact, it does not matter.
	inverse := c.power(c.Neg(c.Min(n, c.whole(c.bias-1))))
	y := c.logOf(c.Add(c.shifted(x, n), c.Sub(inverse, one)), n)
	y = c.Select(c.Lt(x, c.inf()), y, x)
	y = c.Select(c.Eq(x, c.num(0)), x, y)
	y = c.Select(c.Eq(x, c.num(-1)), c.num(math.Inf(-1)), y)
	return c.Select(c.Lt(x, c.num(-1)), c.nan(), y)
}
