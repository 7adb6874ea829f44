package op

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Exp is e to the power x, of floats.
type Exp struct{ unary[floats] }

// Eval computes in float64.
func (Exp) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Exp) }

// Call is cpu.Exp.
func (Exp) Call(*ir.Node) (ir.Call, error) { return callUnary("Exp"), nil }

// Grad is that of the derivative y.
func (Exp) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(_ calculus, _, y *ir.Value) *ir.Value { return y })
}

// Log is the natural logarithm of x, of floats: −∞ at zero, NaN below.
type Log struct{ unary[floats] }

// Eval computes in float64.
func (Log) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Log) }

// Call is cpu.Log.
func (Log) Call(*ir.Node) (ir.Call, error) { return callUnary("Log"), nil }

// Grad is that of the derivative 1/x.
func (Log) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, x) })
}

// Sqrt is √x, of floats; NaN below zero.
type Sqrt struct{ unary[floats] }

// Eval computes in float64.
func (Sqrt) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, math.Sqrt) }

// Call is cpu.Sqrt.
func (Sqrt) Call(*ir.Node) (ir.Call, error) { return callUnary("Sqrt"), nil }

// Grad is that of the derivative 1/2y.
func (Sqrt) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, _, y *ir.Value) *ir.Value { return c.over(0.5, y) })
}

// Erf is the error function of x, of floats: 2/√π times the integral of e^(−t²) from 0 to x.
type Erf struct{ unary[floats] }

// Eval computes in float64.
func (Erf) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Erf) }

// Call is cpu.Erf.
func (Erf) Call(*ir.Node) (ir.Call, error) { return callUnary("Erf"), nil }

// Grad is that of the derivative 2/√π·e^(−x²).
func (Erf) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value {
		return c.times(c.Node(Exp{}, c.neg(c.square(x))), 2/math.Sqrt(math.Pi))
	})
}

// Sigmoid is 1/(1 + e^(−x)), of floats.
type Sigmoid struct{ unary[floats] }

// Eval computes in float64.
func (Sigmoid) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, logistic) }

// Call is cpu.Sigmoid.
func (Sigmoid) Call(*ir.Node) (ir.Call, error) { return callUnary("Sigmoid"), nil }

// Grad is that of the derivative y(1 − y).
func (Sigmoid) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, _, y *ir.Value) *ir.Value { return c.mul(y, c.from(1, y)) })
}

// Tanh is the hyperbolic tangent of x, of floats.
type Tanh struct{ unary[floats] }

// Eval computes in float64.
func (Tanh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Tanh) }

// Call is cpu.Tanh.
func (Tanh) Call(*ir.Node) (ir.Call, error) { return callUnary("Tanh"), nil }

// Grad is that of the derivative 1 − y².
func (Tanh) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, _, y *ir.Value) *ir.Value { return c.from(1, c.square(y)) })
}

// Softplus is log(1 + e^x), of floats.
type Softplus struct{ unary[floats] }

// Eval computes in float64.
func (Softplus) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, softplus) }

// Call is cpu.Softplus.
func (Softplus) Call(*ir.Node) (ir.Call, error) { return callUnary("Softplus"), nil }

// Grad is that of the derivative 1/(1 + e^(−x)).
func (Softplus) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.Node(Sigmoid{}, x) })
}

// Softsign is x/(1 + |x|), of floats.
type Softsign struct{ unary[floats] }

// Eval computes in float64.
func (Softsign) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, softsign) }

// Call is cpu.Softsign.
func (Softsign) Call(*ir.Node) (ir.Call, error) { return callUnary("Softsign"), nil }

// Grad is that of the derivative 1/(1 + |x|)².
func (Softsign) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, c.square(c.plus(c.Node(Abs{}, x), 1))) })
}

// Mish is x·tanh(log(1 + e^x)), of floats.
type Mish struct{ unary[floats] }

// Eval computes in float64.
func (Mish) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, mish) }

// Call is cpu.Mish.
func (Mish) Call(*ir.Node) (ir.Call, error) { return callUnary("Mish"), nil }

// Grad is that of the derivative t + x(1 − t²)/(1 + e^(−x)), where t = tanh(log(1 + e^x)).
func (Mish) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value {
		t := c.Node(Tanh{}, c.Node(Softplus{}, x))
		return c.add(t, c.mul(c.mul(x, c.from(1, c.square(t))), c.Node(Sigmoid{}, x)))
	})
}

func logistic(x float64) float64 { return 1 / (1 + portable.Exp(-x)) }

func softplus(x float64) float64 { return max(x, 0) + portable.Log1p(portable.Exp(-math.Abs(x))) }

func softsign(x float64) float64 { return x / (1 + math.Abs(x)) }

func mish(x float64) float64 { return x * portable.Tanh(softplus(x)) }
