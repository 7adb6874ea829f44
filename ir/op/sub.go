package op

import "github.com/burngen/burngen/ir"

// Sub is x − y, broadcast, of numbers of one type. Integers wrap.
type Sub struct{ binary[numbers] }

// Eval subtracts.
func (Sub) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{
		float:    func(a, b float64) float64 { return a - b },
		signed:   func(a, b int64) (int64, error) { return a - b, nil },
		unsigned: func(a, b uint64) (uint64, error) { return a - b, nil },
	})
}

// InferElems subtracts expressions.
func (Sub) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, ir.Dim.Sub)
}

// Call is cpu.Sub, cpu.SubScalar or cpu.ScalarSub.
func (Sub) Call(n *ir.Node) (ir.Call, error) { return callBinary(n, "Sub", false), nil }

// Grad is the result's of x, its negative of y.
func (Sub) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	g := of[0]
	return partials(b, n, want,
		func(calculus) *ir.Value { return g },
		func(c calculus) *ir.Value { return c.neg(g) },
	)
}

// Neutral is 0.
func (Sub) Neutral() float64 { return 0 }

// Affine shifts by the negative.
func (Sub) Affine() (scales bool, inverse ir.Op) { return false, Neg{} }

// IsCheap marks the operator.
func (Sub) IsCheap() {}
