package elementary

import (
	"math"

	"github.com/burngen/burngen/ir/kernel"
)

// asinTail approximates (asin x − x)/x³ for |x| ≤ ½. atanTail approximates (atan x − x)/x³ for |x| ≤ 1. Both are
// polynomials in x².
var (
	asinTail = series{
		f32: []float64{0.1666675266, 0.07495289306, 0.0454715387, 0.02417328035, 0.04217767165},
		f64: []float64{
			0.166666666666835719, 0.074999999961520718, 0.04464286018353034, 0.0303818249038926239,
			0.0223748797634704052, 0.0173140368269146009, 0.0143230448438797048, 0.00937722563579692379,
			0.018266085744252289, -0.0117266245369023289, 0.0315391073424390022,
		},
	}
	atanTail = series{
		f32: []float64{
			-0.3333329909, 0.199985481, -0.142642397, 0.1095217664, -0.08403428017, 0.05795728422,
			-0.03117760272, 0.01091450588, -0.001793605353,
		},
		f64: []float64{
			-0.333333333333251663, 0.199999999987737406, -0.142857142206998274, 0.111111093470817901,
			-0.0909088021075686274, 0.0769199435883235312, -0.066642743710834617, 0.0586895758590471175,
			-0.0520648535787896537, 0.0457661343243494788, -0.0387110277020883534, 0.0301911318664550405,
			-0.0206218954967558851, 0.0116652242817497339, -0.00513697187468967669, 0.00162783505835398314,
			-0.000327123010736610345, 0.0000311179823276138518,
		},
	}
)

// Atan returns the angle in radians whose tangent is x.
func Atan(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	size := c.Abs(x)
	steep := c.Gt(size, c.num(1))
	// Beyond the limit the angle is π/2.
	inverse := c.over(c.num(1), c.atMost(c.num(0x1p60), size))
	y := c.odd(c.Select(steep, inverse, size), atanTail)
	right := c.halfPi()
	y = c.Select(steep, c.Add(right.hi, c.Sub(right.lo, y)), y)
	return c.flip(y, c.sign(x))
}

// arc returns p and s for a in [0, 1]. asin a = a + a·p if a ≤ ½, in which case isSmall is true. acos a = 2·(s + s·p)
// if a > ½.
func (c calc) arc(a *kernel.Value) (isSmall, p *kernel.Value, s pair) {
	isSmall = c.Le(a, c.num(0.5))
	z := c.Mul(c.Sub(c.num(1), a), c.num(0.5))
	s = c.root(z)
	z = c.Select(isSmall, c.Mul(a, a), z)
	return isSmall, c.Mul(z, c.polynomial(z, asinTail)), s
}

func (c calc) doubled(s pair, p *kernel.Value) pair {
	lo := c.Fma(c.Add(s.hi, s.lo), p, s.lo)
	return pair{c.Add(s.hi, s.hi), c.Add(lo, lo)}
}

func (c calc) minus(x, y pair) *kernel.Value {
	return c.Sub(c.Sub(x.hi, y.hi), c.Sub(y.lo, x.lo))
}

// Asin returns the angle in radians whose sine is x. It is NaN outside [−1, 1].
func Asin(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	a := c.Abs(x)
	isSmall, p, s := c.arc(a)
	y := c.Select(isSmall, c.Fma(a, p, a), c.minus(c.halfPi(), c.doubled(s, p)))
	return c.Select(c.Le(a, c.num(1)), c.flip(y, c.sign(x)), c.nan())
}

// Acos returns the angle in radians whose cosine is x. It is NaN outside [−1, 1].
func Acos(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	a := c.Abs(x)
	isSmall, p, s := c.arc(a)
	acos := c.doubled(s, p)
	y := c.Select(c.Lt(x, c.num(0)), c.minus(c.constant(math.Pi, 1.2246467991473532e-16), acos), c.Add(acos.hi, acos.lo))
	y = c.Select(isSmall, c.minus(c.halfPi(), pair{x, c.Mul(x, p)}), y)
	return c.Select(c.Le(a, c.num(1)), y, c.nan())
}
