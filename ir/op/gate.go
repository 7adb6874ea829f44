package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// Gate returns g where y > 0, and 0 elsewhere, with broadcasting, for numbers of one type. It is
// the gradient of a [Relu] with result y and upstream gradient g.
type Gate struct{ binary[numbers] }

// Eval returns g where y > 0, and 0 elsewhere, in the common shape of both.
func (Gate) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{float: gate[float64], signed: sure(gate[int64]), unsigned: sure(gate[uint64])})
}

// Scalar returns g if y > 0, and 0 otherwise, for one element of each operand.
func (Gate) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	zero := number(b, x[1], 0)
	return b.Select(b.Gt(x[1], zero), x[0], zero)
}

func gate[T real](g, y T) T {
	if y > 0 {
		return g
	}
	return 0
}

// Grad returns, for g, dy where y is above 0, and 0 elsewhere.
func (Gate) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	return partials(b, n, want, func(c calculus) *ir.Value { return c.Node(Gate{}, dy[0], n.Arg(1)) })
}
