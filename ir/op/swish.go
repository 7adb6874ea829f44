package op

import "github.com/burngen/burngen/ir"

// Swish is x/(1 + e^(−Alpha·x)), of floats (ONNX Swish, from opset 24); with Alpha
// 1 it is also called SiLU.
type Swish struct {
	unary[floats]
	Alpha float64
}

// Eval computes in float64.
func (op Swish) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, func(x float64) float64 { return x * logistic(op.Alpha*x) })
}

// Call is cpu.Swish.
func (op Swish) Call(n *ir.Node) (ir.Call, error) {
	return callUnary("Swish", number(n, op.Alpha)), nil
}

// Grad is that of the derivative s + Alpha·y(1 − s), where s = 1/(1 + e^(−Alpha·x)).
func (op Swish) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, y *ir.Value) *ir.Value {
		s := c.Node(Sigmoid{}, c.times(x, op.Alpha))
		return c.add(s, c.times(c.mul(y, c.from(1, s)), op.Alpha))
	})
}

// importSwish reads Swish.
func importSwish(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Swish{Alpha: c.Float("alpha", 1)}, c.Arg(0))}, nil
}
