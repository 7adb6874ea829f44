package op

import "github.com/burngen/burngen/ir"

// Mul is x · y, broadcast, of numbers of one type. Integers wrap.
type Mul struct{ binary[numbers] }

// Eval multiplies.
func (Mul) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{
		float:    func(a, b float64) float64 { return a * b },
		signed:   func(a, b int64) (int64, error) { return a * b, nil },
		unsigned: func(a, b uint64) (uint64, error) { return a * b, nil },
	})
}

// InferElems multiplies expressions.
func (Mul) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBroadcast(in, out, func(e []ir.Ratio) (ir.Ratio, bool) { return timesRatio(e[0], e[1]) })
}

func timesRatio(a, b ir.Ratio) (ir.Ratio, bool) {
	return fraction(a.Num.Mul(b.Num), a.Den*b.Den)
}

// Call is cpu.Mul or cpu.MulScalar.
func (Mul) Call(n *ir.Node) (ir.Call, error) { return callBinary(n, "Mul", true), nil }

// Grad is the result's times the other operand.
func (Mul) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	g, x, y := of[0], n.Arg(0), n.Arg(1)
	return partials(b, n, want,
		func(c calculus) *ir.Value { return c.mul(g, y) },
		func(c calculus) *ir.Value { return c.mul(g, x) },
	)
}

// IsCommutative marks the operator.
func (Mul) IsCommutative() {}

// Neutral is 1.
func (Mul) Neutral() float64 { return 1 }

// Affine scales.
func (Mul) Affine() (scales bool, inverse ir.Op) { return true, nil }

// IsCheap marks the operator.
func (Mul) IsCheap() {}
