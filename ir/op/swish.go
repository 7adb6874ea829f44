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

// importSwish reads Swish.
func importSwish(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Swish{Alpha: c.Float("alpha", 1)}, c.Arg(0))}, nil
}
