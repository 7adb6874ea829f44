package elementary

import (
	"math"

	"github.com/burngen/burngen/ir/kernel"
)

var (
	// erfTail approximates erf(x)/x − 1 for |x| ≤ 1, as a polynomial in x².
	erfTail = series{
		f32: []float64{
			0.1283791657, -0.3761262582, 0.1128358513, -0.02685381092, 0.005188325459, -0.0008010172847,
			7.853790781e-5,
		},
		f64: []float64{
			0.128379167095512143, -0.376126389031735238, 0.112837916705520396, -0.0268661705829201257,
			0.00522397713115820965, -0.000854830402453719719, 0.00012054662845248561,
			-0.0000149130348353476587, 1.63081112479577073e-6, -1.51777828041543461e-7, 9.40771963389908759e-9,
		},
	}
	// erfcTail approximates e^(x²)·erfc(x)·(x + 2) for x ≥ 0, as a polynomial in 1 − 4/(x + 2).
	erfcTail = series{
		f32: []float64{
			1.021582709, -0.6871606935, 0.2794717465, -0.03644189313, -0.02150545605, 0.006476815672,
			0.003061866771, -0.0008351073929, -0.0005927429183, 5.026344982e-5, 7.126916534e-5,
		},
		f64: []float64{
			1.02158270524202286, -0.687160684413819252, 0.279472092556094983, -0.036442231505991856,
			-0.0215106618916990871, 0.00647918504060513997, 0.00309061210423484756,
			-0.000837295674914089801, -0.000663073951671287737, 0.0000343683201104315244,
			0.000144473162588988653, 0.0000341644094193931547, -0.000021703454972130583,
			-0.0000161711448643067155, -1.11549974601252626e-6, 3.75151881707664072e-6,
			2.00599480761821914e-6, -1.49557102594387486e-7, -6.10701164308841056e-7,
			-1.90846968920977327e-7, 6.20387297175819409e-8, 4.56467943833220609e-8,
			6.19285850761748139e-9,
		},
	}
)

// tail returns factor·erfc(x) for 0 ≤ x ≤ 28. square is x² as a pair, because x² rounded to one float is not
// precise enough.
func (c calc) tail(x *kernel.Value, square pair, factor float64) *kernel.Value {
	u := c.reciprocal(c.sum(c.num(2), x))
	p := c.Mul(u, c.polynomial(c.Fma(u, c.num(-4), c.num(1)), erfcTail))
	m, n := c.reduced(c.atLeast(c.limit(-120, -780), c.Neg(square.hi)), c.Neg(square.lo))
	return c.scale(c.Mul(c.Fma(m, p, p), c.num(factor)), n)
}

// erfc returns erfc(x) for x ≥ 0.
func (c calc) erfc(x *kernel.Value) *kernel.Value {
	x = c.atMost(c.limit(10.5, 27.5), x)
	return c.tail(x, c.product(x, x), 1)
}

// Erf returns the error function of x.
func Erf(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	a, one := c.Abs(x), c.num(1)
	near := c.Fma(a, c.polynomial(c.Mul(a, a), erfTail), a)
	return c.flip(c.Select(c.Lt(a, one), near, c.Sub(one, c.erfc(a))), c.sign(x))
}

// Erfc returns 1 − erf(x).
func Erfc(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	y := c.erfc(c.Abs(x))
	return c.Select(c.Lt(x, c.num(0)), c.Sub(c.num(2), y), y)
}

// Normal returns the distribution function of the standard normal distribution, erfc(−x/√2)/2.
func Normal(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	a, half := c.atMost(c.limit(15, 39), c.Abs(x)), c.num(0.5)
	square := c.product(a, a)
	y := c.tail(c.Mul(a, c.num(1/math.Sqrt2)), pair{c.Mul(square.hi, half), c.Mul(square.lo, half)}, 0.5)
	return c.Select(c.Lt(x, c.num(0)), y, c.Sub(c.num(1), y))
}
