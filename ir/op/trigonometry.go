package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Sin is sin x, in radians, of floats.
type Sin struct{ unary[floats] }

// Eval computes in float64.
func (Sin) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Sin) }

// Call is cpu.Sin.
func (Sin) Call(*ir.Node) (ir.Call, error) { return callUnary("Sin"), nil }

// Grad is that of the derivative cos x.
func (Sin) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.Node(Cos{}, x) })
}

// Cos is cos x, in radians, of floats.
type Cos struct{ unary[floats] }

// Eval computes in float64.
func (Cos) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Cos) }

// Call is cpu.Cos.
func (Cos) Call(*ir.Node) (ir.Call, error) { return callUnary("Cos"), nil }

// Grad is that of the derivative −sin x.
func (Cos) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.neg(c.Node(Sin{}, x)) })
}

// Tan is tan x, in radians, of floats.
type Tan struct{ unary[floats] }

// Eval computes in float64.
func (Tan) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Tan) }

// Call is cpu.Tan.
func (Tan) Call(*ir.Node) (ir.Call, error) { return callUnary("Tan"), nil }

// Grad is that of the derivative 1 + y².
func (Tan) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, _, y *ir.Value) *ir.Value { return c.plus(c.square(y), 1) })
}

// Asin is the angle in radians whose sine is x, of floats; NaN outside −1…1.
type Asin struct{ unary[floats] }

// Eval computes in float64.
func (Asin) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Asin) }

// Call is cpu.Asin.
func (Asin) Call(*ir.Node) (ir.Call, error) { return callUnary("Asin"), nil }

// Grad is that of the derivative 1/√(1 − x²).
func (Asin) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, c.Node(Sqrt{}, c.from(1, c.square(x)))) })
}

// Acos is the angle in radians whose cosine is x, of floats; NaN outside −1…1.
type Acos struct{ unary[floats] }

// Eval computes in float64.
func (Acos) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Acos) }

// Call is cpu.Acos.
func (Acos) Call(*ir.Node) (ir.Call, error) { return callUnary("Acos"), nil }

// Grad is that of the derivative −1/√(1 − x²).
func (Acos) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(-1, c.Node(Sqrt{}, c.from(1, c.square(x)))) })
}

// Atan is the angle in radians whose tangent is x, of floats.
type Atan struct{ unary[floats] }

// Eval computes in float64.
func (Atan) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Atan) }

// Call is cpu.Atan.
func (Atan) Call(*ir.Node) (ir.Call, error) { return callUnary("Atan"), nil }

// Grad is that of the derivative 1/(1 + x²).
func (Atan) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, c.plus(c.square(x), 1)) })
}

// Sinh is the hyperbolic sine of x, of floats.
type Sinh struct{ unary[floats] }

// Eval computes in float64.
func (Sinh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Sinh) }

// Call is cpu.Sinh.
func (Sinh) Call(*ir.Node) (ir.Call, error) { return callUnary("Sinh"), nil }

// Grad is that of the derivative cosh x.
func (Sinh) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.Node(Cosh{}, x) })
}

// Cosh is the hyperbolic cosine of x, of floats.
type Cosh struct{ unary[floats] }

// Eval computes in float64.
func (Cosh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Cosh) }

// Call is cpu.Cosh.
func (Cosh) Call(*ir.Node) (ir.Call, error) { return callUnary("Cosh"), nil }

// Grad is that of the derivative sinh x.
func (Cosh) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.Node(Sinh{}, x) })
}

// Asinh is the inverse hyperbolic sine of x, of floats.
type Asinh struct{ unary[floats] }

// Eval computes in float64.
func (Asinh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Asinh) }

// Call is cpu.Asinh.
func (Asinh) Call(*ir.Node) (ir.Call, error) { return callUnary("Asinh"), nil }

// Grad is that of the derivative 1/√(x² + 1).
func (Asinh) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, c.Node(Sqrt{}, c.plus(c.square(x), 1))) })
}

// Acosh is the inverse hyperbolic cosine of x, of floats; NaN below 1.
type Acosh struct{ unary[floats] }

// Eval computes in float64.
func (Acosh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Acosh) }

// Call is cpu.Acosh.
func (Acosh) Call(*ir.Node) (ir.Call, error) { return callUnary("Acosh"), nil }

// Grad is that of the derivative 1/√(x² − 1).
func (Acosh) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, c.Node(Sqrt{}, c.plus(c.square(x), -1))) })
}

// Atanh is the inverse hyperbolic tangent of x, of floats; NaN outside −1…1.
type Atanh struct{ unary[floats] }

// Eval computes in float64.
func (Atanh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Atanh) }

// Call is cpu.Atanh.
func (Atanh) Call(*ir.Node) (ir.Call, error) { return callUnary("Atanh"), nil }

// Grad is that of the derivative 1/(1 − x²).
func (Atanh) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.over(1, c.from(1, c.square(x))) })
}
