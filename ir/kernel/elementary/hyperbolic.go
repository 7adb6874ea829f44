package elementary

import (
	"math"

	"github.com/burngen/burngen/ir/kernel"
)

// sinhTail approximates (sinh x − x)/x³ for |x| ≤ 1. tanhTail approximates (tanh x − x)/x³ for |x| ≤ 0.55. Both are
// polynomials in x².
var (
	sinhTail = series{
		f32: []float64{0.166666665, 0.008333350057, 0.0001983615991, 2.816950666e-6},
		f64: []float64{
			0.166666666666666674, 0.00833333333333314776, 0.000198412698414318632, 2.75573191570741231e-6,
			2.50521231364453915e-8, 1.60572597858841958e-10, 7.75874837712510053e-13,
		},
	}
	tanhTail = series{
		f32: []float64{-0.3333331756, 0.1333258615, -0.05385230823, 0.02107166662, -0.006274217732},
		f64: []float64{
			-0.333333333333323142, 0.133333333331687899, -0.0539682538761042259, 0.0218694859751333924,
			-0.00886319450596594717, 0.00359171969747606531, -0.00145321670077755003, 0.000579136723932297637,
			-0.000210301764286085424, 0.0000510209537303418853,
		},
	}
)

// halfExp returns e^x/2 for x ≥ 0. It is finite for some x for which e^x overflows.
func (c calc) halfExp(x *kernel.Value) *kernel.Value {
	m, n := c.reduced(c.atMost(c.limit(90, 711), x), nil)
	return c.scale(c.Add(m, c.num(1)), c.Sub(n, c.whole(1)))
}

// Sinh returns the hyperbolic sine of x.
func Sinh(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	a := c.Abs(x)
	half := c.halfExp(a)
	y := c.Sub(half, c.Div(c.num(0.25), half))
	y = c.Select(c.Lt(a, c.num(1)), c.odd(a, sinhTail), y)
	return c.flip(y, c.sign(x))
}

// Cosh returns the hyperbolic cosine of x.
func Cosh(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	half := c.halfExp(c.Abs(x))
	return c.Add(half, c.Div(c.num(0.25), half))
}

// Tanh returns the hyperbolic tangent of x.
func Tanh(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	a := c.Abs(x)
	limited := c.atMost(c.limit(10, 20), a)
	m, n := c.reduced(c.Add(limited, limited), nil)
	e := c.Mul(c.Add(m, c.num(1)), c.power(n))
	y := c.Sub(c.num(1), c.Div(c.num(2), c.Add(e, c.num(1))))
	y = c.Select(c.Lt(a, c.num(0.55)), c.odd(a, tanhTail), y)
	return c.flip(y, c.sign(x))
}

// large is so large that large + 1 rounds to large. Its square is still finite.
const large = 0x1p60

// logOfDouble returns log(2x) where x > [large], else log1p(y).
func (c calc) logOfDouble(x, y *kernel.Value) *kernel.Value {
	isLarge := c.Gt(x, c.num(large))
	log := c.log1p(c.Select(isLarge, x, y))
	return c.Add(log, c.Select(isLarge, c.num(math.Ln2), c.num(0)))
}

// Asinh returns the inverse hyperbolic sine of x, log(x + √(x² + 1)).
func Asinh(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	one := c.num(1)
	a := c.Abs(x)
	square := c.Mul(a, a)
	root := c.Unary(kernel.Sqrt, c.Add(square, one))
	y := c.logOfDouble(a, c.Add(a, c.Div(square, c.Add(root, one))))
	return c.flip(y, c.sign(x))
}

// Acosh returns the inverse hyperbolic cosine of x, log(x + √(x² − 1)). It is NaN below 1.
func Acosh(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	t := c.Sub(x, c.num(1))
	root := c.root(c.Mul(t, c.Add(t, c.num(2))))
	y := c.logOfDouble(x, c.Add(c.Add(t, root.hi), root.lo))
	return c.Select(c.Ge(x, c.num(1)), y, c.nan())
}

// Atanh returns the inverse hyperbolic tangent of x, log((1 + x)/(1 − x))/2. It is NaN outside [−1, 1].
func Atanh(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	a := c.Abs(x)
	twice := c.Add(a, a)
	log := c.log1p(c.Add(twice, c.Div(c.Mul(twice, a), c.Sub(c.num(1), a))))
	y := c.flip(c.Mul(log, c.num(0.5)), c.sign(x))
	return c.Select(c.Le(a, c.num(1)), y, c.nan())
}
