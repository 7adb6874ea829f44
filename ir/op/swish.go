package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
)

// Swish computes x/(1 + e^(−Alpha·x)) for floats (ONNX Swish, from opset 24). With Alpha 1 it is also
// called SiLU.
type Swish struct {
	unary[floats]
	Alpha float64
}

// Eval returns x/(1 + e^(−Alpha·x)) for each element x of the operand. It computes in float64.
func (op Swish) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, func(x float64) float64 { return x * logistic(op.Alpha*x) })
}

// Scalar returns x/(1 + e^(−Alpha·x)) for an element x.
func (op Swish) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	scaled := x[0]
	if op.Alpha != 1 {
		scaled = b.Mul(x[0], number(b, x[0], op.Alpha))
	}
	return b.Mul(x[0], elementary.Sigmoid(b, scaled))
}

// Grad returns the gradient of x: dy·(s + Alpha·y·(1 − s)), where s = 1/(1 + e^(−Alpha·x)) and y is
// the result.
func (op Swish) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, y *ir.Value) *ir.Value {
		s := c.Node(Sigmoid{}, c.times(x, op.Alpha))
		return c.add(s, c.times(c.mul(y, c.from(1, s)), op.Alpha))
	})
}

func importSwish(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Swish{Alpha: c.Float("alpha", 1)}, c.Arg(0))}, nil
}
