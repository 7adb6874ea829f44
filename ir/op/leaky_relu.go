package op

import "github.com/burngen/burngen/ir"

// LeakyRelu is x where it is not negative, else Alpha·x, of floats.
type LeakyRelu struct {
	unary[floats]
	Alpha float64
}

// Eval scales what is negative.
func (op LeakyRelu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, func(x float64) float64 {
		if x < 0 {
			return op.Alpha * x
		}
		return x
	})
}

// Call is cpu.LeakyRelu.
func (op LeakyRelu) Call(n *ir.Node) (ir.Call, error) {
	return callUnary("LeakyRelu", number(n, op.Alpha)), nil
}

// Grad is that of the derivative 1 where x is not negative, else Alpha.
func (op LeakyRelu) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value {
		return c.Node(Where{}, c.negative(x), c.num(x, op.Alpha), c.num(x, 1))
	})
}

// importLeakyRelu reads LeakyRelu.
func importLeakyRelu(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	return []*ir.Value{c.Builder().Node(LeakyRelu{Alpha: c.Float("alpha", 0.01)}, c.Arg(0))}, nil
}
