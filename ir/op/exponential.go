package op

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Exp computes e^x for floats.
type Exp struct{ unary[floats] }

// Eval returns e^x for each element x of the operand. It computes in float64.
func (Exp) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Exp) }

// Scalar returns e^x for an element x.
func (Exp) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Exp(b, x[0])
}

// Grad returns the gradient of x: dy·y, where y = e^x is the result.
func (Exp) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(_ calculus, _, y *ir.Value) *ir.Value { return y })
}

// Log computes the natural logarithm of floats. It is −∞ at zero and NaN for negative numbers.
type Log struct{ unary[floats] }

// Eval returns log x for each element x of the operand. It computes in float64.
func (Log) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Log) }

// Scalar returns log x for an element x.
func (Log) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Log(b, x[0])
}

// Grad returns the gradient of x: dy/x.
func (Log) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, x) })
}

// Sqrt computes √x for floats. It is NaN for negative numbers.
type Sqrt struct{ unary[floats] }

// Eval returns √x for each element x of the operand. It computes in float64.
func (Sqrt) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, math.Sqrt) }

// Scalar returns √x for an element x.
func (Sqrt) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Root(b, x[0])
}

// Grad returns the gradient of x: dy/(2·y), where y = √x is the result.
func (Sqrt) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, _, y *ir.Value) *ir.Value { return c.over(0.5, y) })
}

// Erf computes the error function for floats: 2/√π times the integral of e^(−t²) from 0 to x.
type Erf struct{ unary[floats] }

// Eval returns erf x for each element x of the operand. It computes in float64.
func (Erf) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Erf) }

// Scalar returns erf x for an element x.
func (Erf) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Erf(b, x[0])
}

// Grad returns the gradient of x: 2/√π·e^(−x²)·dy.
func (Erf) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value {
		return c.times(c.Node(Exp{}, c.neg(c.square(x))), 2/math.Sqrt(math.Pi))
	})
}

// Sigmoid computes 1/(1 + e^(−x)) for floats.
type Sigmoid struct{ unary[floats] }

// Eval returns 1/(1 + e^(−x)) for each element x of the operand. It computes in float64.
func (Sigmoid) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, logistic) }

// Scalar returns 1/(1 + e^(−x)) for an element x.
func (Sigmoid) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Sigmoid(b, x[0])
}

// Grad returns the gradient of x: dy·y·(1 − y), where y is the result.
func (Sigmoid) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, _, y *ir.Value) *ir.Value { return c.mul(y, c.from(1, y)) })
}

// Tanh computes the hyperbolic tangent for floats.
type Tanh struct{ unary[floats] }

// Eval returns tanh x for each element x of the operand. It computes in float64.
func (Tanh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Tanh) }

// Scalar returns tanh x for an element x.
func (Tanh) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Tanh(b, x[0])
}

// Grad returns the gradient of x: dy·(1 − y²), where y = tanh x is the result.
func (Tanh) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, _, y *ir.Value) *ir.Value { return c.from(1, c.square(y)) })
}

// Softplus computes log(1 + e^x) for floats.
type Softplus struct{ unary[floats] }

// Eval returns log(1 + e^x) for each element x of the operand. It computes in float64.
func (Softplus) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, softplus) }

// Scalar returns log(1 + e^x) for an element x.
func (Softplus) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Softplus(b, x[0])
}

// Grad returns the gradient of x: dy/(1 + e^(−x)).
func (Softplus) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.Node(Sigmoid{}, x) })
}

// Softsign computes x/(1 + |x|) for floats.
type Softsign struct{ unary[floats] }

// Eval returns x/(1 + |x|) for each element x of the operand. It computes in float64.
func (Softsign) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, softsign) }

// Scalar returns x/(1 + |x|) for an element x.
func (Softsign) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Div(x[0], b.Add(b.Abs(x[0]), number(b, x[0], 1)))
}

// Grad returns the gradient of x: dy/(1 + |x|)².
func (Softsign) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, c.square(c.plus(c.Node(Abs{}, x), 1))) })
}

// Mish computes x·tanh(log(1 + e^x)) for floats (ONNX Mish, from opset 18).
type Mish struct{ unary[floats] }

// Eval returns x·tanh(log(1 + e^x)) for each element x of the operand. It computes in float64.
func (Mish) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, mish) }

// Scalar returns x·tanh(log(1 + e^x)) for an element x.
func (Mish) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Mish(b, x[0])
}

// Grad returns the gradient of x: dy·(t + x·(1 − t²)/(1 + e^(−x))), where t = tanh(log(1 + e^x)).
func (Mish) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value {
		t := c.Node(Tanh{}, c.Node(Softplus{}, x))
		return c.add(t, c.mul(c.mul(x, c.from(1, c.square(t))), c.Node(Sigmoid{}, x)))
	})
}

func logistic(x float64) float64 { return 1 / (1 + portable.Exp(-x)) }

func softplus(x float64) float64 { return max(x, 0) + portable.Log1p(portable.Exp(-math.Abs(x))) }

func softsign(x float64) float64 { return x / (1 + math.Abs(x)) }

func mish(x float64) float64 { return x * portable.Tanh(softplus(x)) }
