package op

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// Add is x + y, broadcast, of numbers of one type. Integers wrap.
type Add struct{ binary[numbers] }

// Eval adds.
func (Add) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{
		float:    func(a, b float64) float64 { return a + b },
		signed:   func(a, b int64) (int64, error) { return a + b, nil },
		unsigned: func(a, b uint64) (uint64, error) { return a + b, nil },
	})
}

// InferElems adds expressions.
func (Add) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, ir.Dim.Add)
}

// Call is cpu.Add or cpu.AddScalar.
func (Add) Call(n *ir.Node) (ir.Call, error) { return callBinary(n, "Add", true), nil }

// Grad is the result's of both.
func (Add) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	g := of[0]
	return partials(b, n, want,
		func(calculus) *ir.Value { return g },
		func(calculus) *ir.Value { return g },
	)
}

// IsCommutative marks the operator.
func (Add) IsCommutative() {}

// Neutral is −0, as 0 would turn −0 into 0.
func (Add) Neutral() float64 { return math.Copysign(0, -1) }

// Affine shifts.
func (Add) Affine() (scales bool, inverse ir.Op) { return false, nil }

// IsCheap marks the operator.
func (Add) IsCheap() {}
