package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// HardSigmoid computes Alpha·x + Beta clamped to [0, 1], for floats.
type HardSigmoid struct {
	unary[floats]
	Alpha, Beta float64
}

// HardSwish computes x·h, where h is x/6 + 1/2 clamped to [0, 1], for floats (ONNX HardSwish, from
// opset 14).
type HardSwish struct{ unary[floats] }

// Eval returns Alpha·x + Beta, clamped to [0, 1], for each element x of the operand. It computes in
// float64.
func (op HardSigmoid) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, func(x float64) float64 { return hardSigmoid(op.Alpha, op.Beta, x) })
}

// Scalar returns Alpha·x + Beta, clamped to [0, 1], for an element x.
func (op HardSigmoid) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return scalarHardSigmoid(b, x[0], op.Alpha, op.Beta)
}

// Eval returns x·h for each element x of the operand, where h is x/6 + 1/2 clamped to [0, 1]. It
// computes in float64.
func (HardSwish) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, func(x float64) float64 { return x * hardSigmoid(1./6, 0.5, x) })
}

// Scalar returns x·h for an element x, where h is x/6 + 1/2 clamped to [0, 1].
func (HardSwish) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Mul(x[0], scalarHardSigmoid(b, x[0], 1./6, 0.5))
}

func scalarHardSigmoid(b *kernel.Builder, x *kernel.Value, alpha, beta float64) *kernel.Value {
	y := b.Fma(x, number(b, x, alpha), number(b, x, beta))
	return clamped(b, y, number(b, x, 0), number(b, x, 1))
}

func hardSigmoid(alpha, beta, x float64) float64 {
	return limit(float64(alpha*x)+beta, 0, 1)
}

// Grad returns the gradient of x: Alpha·dy where the result is between 0 and 1, and 0 elsewhere.
func (op HardSigmoid) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, y *ir.Value) *ir.Value {
		return c.where(c.Node(And{}, c.positive(y), c.Node(Less{}, y, c.num(y, 1))), c.num(x, op.Alpha))
	})
}

// Grad returns the gradient of x. It is dy·(x/3 + 1/2) where x is from −3 to 3, 0 where x is smaller, and dy where
// x is larger.
func (HardSwish) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value {
		return c.Node(Where{}, c.between(x, -3, 3), c.plus(c.times(x, 1./3), 0.5), c.where(c.positive(x), c.num(x, 1)))
	})
}

func importHardSigmoid(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	op := HardSigmoid{Alpha: c.Float("alpha", 0.2), Beta: c.Float("beta", 0.5)}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}
