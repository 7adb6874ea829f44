package elementary

import (
	"math"

	"github.com/burngen/burngen/ir/kernel"
)

// ln2Low is ln 2 minus its nearest float64.
const ln2Low = 2.3190468138462996e-17

// expTail approximates (e^r − 1 − r)/r² for |r| ≤ ln2/2, as a polynomial in r.
var expTail = series{
	f32: []float64{0.4999999814, 0.1666654316, 0.04166720236, 0.008366582191, 0.001388247514},
	f64: []float64{
		0.500000000000000523, 0.166666666666665886, 0.0416666666665760764, 0.00833333333338998235,
		0.00138888889318044654, 0.000198412697183154683, 0.000024801504968441781,
		2.75574078449723853e-6, 2.76261652885195562e-7, 2.50537983236109803e-8,
	},
}

// ln2 returns ln 2 as a pair. The product of the first part and the exponent of a float is exact.
func (c calc) ln2() pair {
	spare := 8
	if !c.single() {
		spare = 11
	}
	hi := head(math.Ln2, c.fraction+1-spare)
	return pair{c.num(hi), c.num(math.Ln2 - hi + ln2Low)}
}

// expm1Near returns e^r − 1 for |r| ≤ ln2/2.
func (c calc) expm1Near(r *kernel.Value) *kernel.Value {
	return c.Fma(c.Mul(r, r), c.polynomial(r, expTail), r)
}

// reduced returns m and the integer n with e^(x + tail) = 2ⁿ·(1 + m) and |m| ≤ 0.42. tail is less
// than a unit in the last place of x; nil is 0.
func (c calc) reduced(x, tail *kernel.Value) (m, n *kernel.Value) {
	k := c.Unary(kernel.Round, c.Mul(x, c.num(math.Log2E)))
	ln2 := c.ln2()
	minus := c.Neg(k)
	r := c.Fma(minus, ln2.lo, c.Fma(minus, ln2.hi, x))
	if tail != nil {
		r = c.Add(r, tail)
	}
	return c.expm1Near(r), c.Convert(c.signed, k)
}

// Exp returns e^x.
func Exp(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	limited := c.atLeast(c.limit(-104, -746), c.atMost(c.limit(89, 710), x)) // e^x is 0 or infinite beyond
	m, n := c.reduced(limited, nil)
	return c.scale(c.Add(m, c.num(1)), n)
}

// Expm1 returns e^x − 1.
func Expm1(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	limited := c.atLeast(c.limit(-20, -40), c.atMost(c.limit(89, 710), x))
	m, n := c.reduced(limited, nil)
	// 2ⁿ·(m + (1 − 2⁻ⁿ)): for large n, 2⁻ⁿ only has to be small.
	inverse := c.power(c.Neg(c.Min(n, c.whole(c.bias-1))))
	y := c.scale(c.Add(m, c.Sub(c.num(1), inverse)), n)
	return c.Select(c.Eq(x, c.num(0)), x, y)
}
