package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Sin computes the sine of floats, in radians.
type Sin struct{ unary[floats] }

// Eval returns sin x for each element x of the operand. It computes in float64.
func (Sin) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Sin) }

// Scalar returns sin x for an element x.
func (Sin) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Sin(b, x[0])
}

// Grad returns the gradient of x: dy·cos x.
func (Sin) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.Node(Cos{}, x) })
}

// Cos computes the cosine of floats, in radians.
type Cos struct{ unary[floats] }

// Eval returns cos x for each element x of the operand. It computes in float64.
func (Cos) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Cos) }

// Scalar returns cos x for an element x.
func (Cos) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Cos(b, x[0])
}

// Grad returns the gradient of x: −dy·sin x.
func (Cos) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.neg(c.Node(Sin{}, x)) })
}

// Tan computes the tangent of floats, in radians.
type Tan struct{ unary[floats] }

// Eval returns tan x for each element x of the operand. It computes in float64.
func (Tan) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Tan) }

// Scalar returns tan x for an element x.
func (Tan) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Tan(b, x[0])
}

// Grad returns the gradient of x: dy·(1 + y²), where y = tan x is the result.
func (Tan) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, _, y *ir.Value) *ir.Value { return c.plus(c.square(y), 1) })
}

// Asin computes the arc sine of floats, in radians. It is NaN outside [−1, 1].
type Asin struct{ unary[floats] }

// Eval returns arcsin x for each element x of the operand. It computes in float64.
func (Asin) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Asin) }

// Scalar returns arcsin x for an element x.
func (Asin) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Asin(b, x[0])
}

// Grad returns the gradient of x: dy/√(1 − x²).
func (Asin) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, c.Node(Sqrt{}, c.from(1, c.square(x)))) })
}

// Acos computes the arc cosine of floats, in radians. It is NaN outside [−1, 1].
type Acos struct{ unary[floats] }

// Eval returns arccos x for each element x of the operand. It computes in float64.
func (Acos) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Acos) }

// Scalar returns arccos x for an element x.
func (Acos) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Acos(b, x[0])
}

// Grad returns the gradient of x: −dy/√(1 − x²).
func (Acos) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(-1, c.Node(Sqrt{}, c.from(1, c.square(x)))) })
}

// Atan computes the arc tangent of floats, in radians.
type Atan struct{ unary[floats] }

// Eval returns arctan x for each element x of the operand. It computes in float64.
func (Atan) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Atan) }

// Scalar returns arctan x for an element x.
func (Atan) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Atan(b, x[0])
}

// Grad returns the gradient of x: dy/(1 + x²).
func (Atan) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, c.plus(c.square(x), 1)) })
}

// Sinh computes the hyperbolic sine of floats.
type Sinh struct{ unary[floats] }

// Eval returns sinh x for each element x of the operand. It computes in float64.
func (Sinh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Sinh) }

// Scalar returns sinh x for an element x.
func (Sinh) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Sinh(b, x[0])
}

// Grad returns the gradient of x: dy·cosh x.
func (Sinh) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.Node(Cosh{}, x) })
}

// Cosh computes the hyperbolic cosine of floats.
type Cosh struct{ unary[floats] }

// Eval returns cosh x for each element x of the operand. It computes in float64.
func (Cosh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Cosh) }

// Scalar returns cosh x for an element x.
func (Cosh) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Cosh(b, x[0])
}

// Grad returns the gradient of x: dy·sinh x.
func (Cosh) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.Node(Sinh{}, x) })
}

// Asinh computes the inverse hyperbolic sine of floats.
type Asinh struct{ unary[floats] }

// Eval returns arsinh x for each element x of the operand. It computes in float64.
func (Asinh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Asinh) }

// Scalar returns arsinh x for an element x.
func (Asinh) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Asinh(b, x[0])
}

// Grad returns the gradient of x: dy/√(x² + 1).
func (Asinh) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, c.Node(Sqrt{}, c.plus(c.square(x), 1))) })
}

// Acosh computes the inverse hyperbolic cosine of floats; NaN below 1.
type Acosh struct{ unary[floats] }

// Eval returns arcosh x for each element x of the operand. It computes in float64.
func (Acosh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Acosh) }

// Scalar returns arcosh x for an element x.
func (Acosh) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Acosh(b, x[0])
}

// Grad returns the gradient of x: dy/√(x² − 1).
func (Acosh) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, c.Node(Sqrt{}, c.plus(c.square(x), -1))) })
}

// Atanh computes the inverse hyperbolic tangent of floats. It is NaN outside [−1, 1].
type Atanh struct{ unary[floats] }

// Eval returns artanh x for each element x of the operand. It computes in float64.
func (Atanh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Atanh) }

// Scalar returns artanh x for an element x.
func (Atanh) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Atanh(b, x[0])
}

// Grad returns the gradient of x: dy/(1 − x²).
func (Atanh) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, c.from(1, c.square(x))) })
}
