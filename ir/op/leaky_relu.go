package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// LeakyRelu computes x where x ≥ 0, else Alpha·x, for floats.
type LeakyRelu struct {
	unary[floats]
	Alpha float64
}

// Eval returns x for each element x ≥ 0, and Alpha·x for the others.
func (op LeakyRelu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, func(x float64) float64 {
		if x < 0 {
			return op.Alpha * x
		}
		return x
	})
}

// Scalar returns x if x ≥ 0, and Alpha·x otherwise, for one element x.
func (op LeakyRelu) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Select(isNegative(b, x[0]), b.Mul(x[0], number(b, x[0], op.Alpha)), x[0])
}

// Grad returns dy where x ≥ 0, else Alpha·dy.
func (op LeakyRelu) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value {
		return c.Node(Where{}, c.negative(x), c.num(x, op.Alpha), c.num(x, 1))
	})
}

func importLeakyRelu(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	return []*ir.Value{c.Builder().Node(LeakyRelu{Alpha: c.Float("alpha", 0.01)}, c.Arg(0))}, nil
}
