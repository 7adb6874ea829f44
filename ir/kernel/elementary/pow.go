package elementary

import (
	"math"

	"github.com/burngen/burngen/ir/kernel"
)

// ratioTail approximates 3·(atanh(s)/s − 1 − z/3)/z² for z = s² and |s| ≤ (√2 − 1)/(√2 + 1), as a
// polynomial in z.
var ratioTail = series{
	f32: []float64{0.600002322, 0.4282028259, 0.3513824037},
	f64: []float64{
		0.600000000000035172, 0.428571428550821343, 0.33333333792439212, 0.272726754077598955,
		0.230801905186692748, 0.198839168981473487, 0.198069931577872367,
	},
}

// log2 returns the binary logarithm of a positive finite x with about twice the precision of a float. The logarithm
// of x = m·2ⁿ is n + 2·atanh(s)/ln2, where s = (m − 1)/(m + 1).
func (c calc) log2(x *kernel.Value) pair {
	one, three := c.num(1), c.num(3)
	m, n := c.parts(x)
	f, g := c.Sub(m, one), c.Add(m, one)
	gh := c.head(g)
	gl := c.Sub(m, c.Sub(gh, one))
	sh := c.head(c.Div(f, g))
	rest := c.Sub(c.Sub(f, c.Mul(sh, gh)), c.Mul(sh, gl))
	s := pair{sh, c.Div(rest, g)}

	z := pair{c.Mul(s.hi, s.hi), c.Mul(s.lo, c.Add(c.Add(s.hi, s.hi), s.lo))}
	square := c.Add(z.hi, z.lo)
	w := c.sum(three, z.hi)
	w = c.sum(w.hi, c.Add(w.lo, c.Fma(c.Mul(square, square), c.polynomial(square, ratioTail), z.lo)))

	const scaleHigh, scaleLow = 0.9617966939259756, 5.0577616648125907e-17 // 2/(3·ln2)
	y := c.times(c.times(s, w), c.constant(scaleHigh, scaleLow))
	t := c.anySum(c.Convert(c.d, n), y.hi)
	return c.sum(t.hi, c.Add(t.lo, y.lo))
}

// Pow returns x^y.
func Pow(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
	c := on(b, x)
	zero, one, inf := c.num(0), c.num(1), c.inf()
	size := c.Abs(x)

	// An exponent beyond the limit gives 0, 1 or an infinity, as at the limit.
	limit := math.Ldexp(1, c.fraction+12)
	bounded := c.atLeast(c.num(-limit), c.atMost(c.num(limit), y))
	log := c.log2(size)
	e := c.product(log.hi, bounded)
	lo := c.Fma(log.lo, bounded, e.lo)
	hi := c.atLeast(c.limit(-152, -1080), c.atMost(c.limit(130, 1026), e.hi))
	lo = c.Select(c.Eq(hi, e.hi), lo, zero)
	k := c.Unary(kernel.Round, hi)
	ln2 := c.num(math.Ln2)
	m := c.expm1Near(c.Fma(c.Sub(hi, k), ln2, c.Mul(lo, ln2)))
	p := c.scale(c.Add(m, one), c.Convert(c.signed, k))

	down := c.Lt(y, zero)
	p = c.Select(c.Eq(size, zero), c.Select(down, inf, zero), p)
	p = c.Select(c.Eq(size, inf), c.Select(down, zero, inf), p)

	half := c.Mul(y, c.num(0.5))
	isWhole := c.Eq(c.Unary(kernel.Floor, y), y)
	isOdd := c.And(isWhole, c.Ne(c.Unary(kernel.Floor, half), half))
	p = c.flip(p, c.Select(isOdd, c.sign(x), c.Whole(c.unsigned, 0)))
	negative := c.And(c.Lt(x, zero), c.Lt(size, inf))
	p = c.Select(c.And(negative, c.Not(isWhole)), c.nan(), p)
	p = c.Select(c.Or(c.Ne(x, x), c.Ne(y, y)), c.nan(), p)
	return c.Select(c.Or(c.Eq(x, one), c.Eq(y, zero)), one, p)
}
