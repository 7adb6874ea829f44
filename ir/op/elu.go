package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Elu computes x where x ≥ 0, and Alpha·(e^x − 1) elsewhere, for floats.
type Elu struct {
	unary[floats]
	Alpha float64
}

// Selu computes Gamma·x where x ≥ 0, and Gamma·Alpha·(e^x − 1) elsewhere, for floats.
type Selu struct {
	unary[floats]
	Alpha, Gamma float64
}

// Celu computes x where x ≥ 0, and Alpha·(e^(x/Alpha) − 1) elsewhere, for floats.
type Celu struct {
	unary[floats]
	Alpha float64
}

// Eval returns x for each element x ≥ 0, and Alpha·(e^x − 1) for the others. It computes in float64.
func (op Elu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, elu(1, op.Alpha, 1))
}

// Scalar returns x if x ≥ 0, and Alpha·(e^x − 1) otherwise, for one element x.
func (op Elu) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return scalarElu(b, x[0], 1, op.Alpha, 1)
}

// Eval returns Gamma·x for each element x ≥ 0, and Gamma·Alpha·(e^x − 1) for the others. It computes in float64.
func (op Selu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, elu(op.Gamma, op.Gamma*op.Alpha, 1))
}

// Scalar returns Gamma·x if x ≥ 0, and Gamma·Alpha·(e^x − 1) otherwise, for one element x.
func (op Selu) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return scalarElu(b, x[0], op.Gamma, op.Gamma*op.Alpha, 1)
}

// Eval returns x for each element x ≥ 0, and Alpha·(e^(x/Alpha) − 1) for the others. It computes in float64.
func (op Celu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, elu(1, op.Alpha, op.Alpha))
}

// Scalar returns x if x ≥ 0, and Alpha·(e^(x/Alpha) − 1) otherwise, for one element x.
func (op Celu) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return scalarElu(b, x[0], 1, op.Alpha, op.Alpha)
}

func scalarElu(b *kernel.Builder, x *kernel.Value, up, down, width float64) *kernel.Value {
	narrow := x
	if width != 1 {
		narrow = b.Div(x, number(b, x, width))
	}
	below := b.Mul(elementary.Expm1(b, narrow), number(b, x, down))
	above := x
	if up != 1 {
		above = b.Mul(x, number(b, x, up))
	}
	return b.Select(isNegative(b, x), below, above)
}

// elu returns a function of x: up·x if x ≥ 0, and down·(e^(x/width) − 1) otherwise.
func elu(up, down, width float64) func(float64) float64 {
	return func(x float64) float64 {
		if x < 0 {
			return down * portable.Expm1(x/width)
		}
		return up * x
	}
}

// Grad returns the gradient of x: dy where x ≥ 0, and dy·(y + Alpha) elsewhere. y is the result.
func (op Elu) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, y *ir.Value) *ir.Value {
		return c.Node(Where{}, c.negative(x), c.plus(y, op.Alpha), c.num(x, 1))
	})
}

// Grad returns the gradient of x: Gamma·dy where x ≥ 0, and dy·(y + Gamma·Alpha) elsewhere. y is the result.
func (op Selu) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, y *ir.Value) *ir.Value {
		return c.Node(Where{}, c.negative(x), c.plus(y, op.Gamma*op.Alpha), c.num(x, op.Gamma))
	})
}

// Grad returns the gradient of x: dy where x ≥ 0, and dy·(y/Alpha + 1) elsewhere. y is the result.
func (op Celu) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, y *ir.Value) *ir.Value {
		return c.Node(Where{}, c.negative(x), c.plus(c.times(y, 1/op.Alpha), 1), c.num(x, 1))
	})
}

func importElu(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	return []*ir.Value{c.Builder().Node(Elu{Alpha: c.Float("alpha", 1)}, c.Arg(0))}, nil
}

// importSelu imports Selu. The defaults had fewer digits before opset 6.
func importSelu(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	alpha, gamma := 1.67326319217681884765625, 1.05070102214813232421875
	if c.Opset() < 6 {
		alpha, gamma = 1.6732, 1.0507
	}
	op := Selu{Alpha: c.Float("alpha", alpha), Gamma: c.Float("gamma", gamma)}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}

func importCelu(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Celu{Alpha: c.Float("alpha", 1)}, c.Arg(0))}, nil
}
