package op

import "github.com/burngen/burngen/ir"

// HardSigmoid is Alpha·x + Beta limited to 0…1, of floats.
type HardSigmoid struct {
	unary[floats]
	Alpha, Beta float64
}

// HardSwish is x·(x/6 + 1/2 limited to 0…1), of floats.
type HardSwish struct{ unary[floats] }

// Eval computes in float64.
func (op HardSigmoid) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, func(x float64) float64 { return hardSigmoid(op.Alpha, op.Beta, x) })
}

// Eval computes in float64.
func (HardSwish) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, func(x float64) float64 { return x * hardSigmoid(1./6, 0.5, x) })
}

func hardSigmoid(alpha, beta, x float64) float64 {
	return limit(float64(alpha*x)+beta, 0, 1)
}

// Call is cpu.HardSigmoid.
func (op HardSigmoid) Call(n *ir.Node) (ir.Call, error) {
	return callUnary("HardSigmoid", number(n, op.Alpha), number(n, op.Beta)), nil
}

// Grad is that of the derivative Alpha between the limits.
func (op HardSigmoid) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, y *ir.Value) *ir.Value {
		return c.where(c.Node(And{}, c.positive(y), c.Node(Less{}, y, c.num(y, 1))), c.num(x, op.Alpha))
	})
}

// Call is cpu.HardSwish.
func (HardSwish) Call(*ir.Node) (ir.Call, error) { return callUnary("HardSwish"), nil }

// Grad is that of the derivative x/3 + 1/2 from −3 to 3, 0 below and 1 above.
func (HardSwish) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value {
		return c.Node(Where{}, c.between(x, -3, 3), c.plus(c.times(x, 1./3), 0.5), c.where(c.positive(x), c.num(x, 1)))
	})
}

// importHardSigmoid reads HardSigmoid.
func importHardSigmoid(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	op := HardSigmoid{Alpha: c.Float("alpha", 0.2), Beta: c.Float("beta", 0.5)}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}
