package elementary

import (
	"github.com/burngen/burngen/ir/kernel"
)

// Sigmoid returns 1/(1 + e^(−x)).
func Sigmoid(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	one := c.num(1)
	e := Exp(b, c.Neg(c.Abs(x)))
	return c.over(c.Select(c.Lt(x, c.num(0)), e, one), c.Add(e, one))
}

// Softplus returns log(1 + e^x).
func Softplus(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	return c.Add(c.Max(x, c.num(0)), c.log1p(Exp(b, c.Neg(c.Abs(x)))))
}

// Mish returns x·tanh(log(1 + e^x)).
func Mish(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	two := c.num(2)
	e := Exp(b, c.Neg(c.Abs(x)))
	square := c.Mul(e, e)
	isDown := c.Lt(x, c.num(0))
	n := c.Select(isDown, c.Fma(e, two, square), c.Fma(e, two, c.num(1)))
	d := c.Add(n, c.Select(isDown, two, c.Add(square, square)))
	return c.Mul(x, c.over(n, d))
}
