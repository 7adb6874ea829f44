package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Elu is x where it is not negative, else Alpha·(e^x − 1), of floats.
type Elu struct {
	unary[floats]
	Alpha float64
}

// Selu is Gamma·x where x is not negative, else Gamma·Alpha·(e^x − 1), of floats.
type Selu struct {
	unary[floats]
	Alpha, Gamma float64
}

// Celu is x where it is not negative, else Alpha·(e^(x/Alpha) − 1), of floats.
type Celu struct {
	unary[floats]
	Alpha float64
}

// Eval computes in float64.
func (op Elu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, elu(1, op.Alpha, 1))
}

// Eval computes in float64.
func (op Selu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, elu(op.Gamma, op.Gamma*op.Alpha, 1))
}

// Eval computes in float64.
func (op Celu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, elu(1, op.Alpha, op.Alpha))
}

// elu is up·x where x is not negative, else down·(e^(x/width) − 1).
func elu(up, down, width float64) func(float64) float64 {
	return func(x float64) float64 {
		if x < 0 {
			return down * portable.Expm1(x/width)
		}
		return up * x
	}
}

// Call is cpu.Elu.
func (op Elu) Call(n *ir.Node) (ir.Call, error) { return callUnary("Elu", number(n, op.Alpha)), nil }

// Grad is that of the derivative 1 where x is not negative, else y + Alpha.
func (op Elu) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, y *ir.Value) *ir.Value {
		return c.Node(Where{}, c.negative(x), c.plus(y, op.Alpha), c.num(x, 1))
	})
}

// Call is cpu.Selu.
func (op Selu) Call(n *ir.Node) (ir.Call, error) {
	return callUnary("Selu", number(n, op.Alpha), number(n, op.Gamma)), nil
}

// Grad is that of the derivative Gamma where x is not negative, else y + Gamma·Alpha.
func (op Selu) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, y *ir.Value) *ir.Value {
		return c.Node(Where{}, c.negative(x), c.plus(y, op.Gamma*op.Alpha), c.num(x, op.Gamma))
	})
}

// Call is cpu.Celu.
func (op Celu) Call(n *ir.Node) (ir.Call, error) { return callUnary("Celu", number(n, op.Alpha)), nil }

// Grad is that of the derivative 1 where x is not negative, else y/Alpha + 1.
func (op Celu) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, y *ir.Value) *ir.Value {
		return c.Node(Where{}, c.negative(x), c.plus(c.times(y, 1/op.Alpha), 1), c.num(x, 1))
	})
}

// importElu reads Elu.
func importElu(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	return []*ir.Value{c.Builder().Node(Elu{Alpha: c.Float("alpha", 1)}, c.Arg(0))}, nil
}

// importSelu reads Selu; the defaults had fewer digits before opset 6.
func importSelu(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	alpha, gamma := 1.67326319217681884765625, 1.05070102214813232421875
	if c.Opset() < 6 {
		alpha, gamma = 1.6732, 1.0507
	}
	op := Selu{Alpha: c.Float("alpha", alpha), Gamma: c.Float("gamma", gamma)}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}

// importCelu reads Celu.
func importCelu(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Celu{Alpha: c.Float("alpha", 1)}, c.Arg(0))}, nil
}
