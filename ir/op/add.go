package op

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Add computes x + y with broadcasting, for numbers of one type. Integers wrap.
type Add struct{ binary[numbers] }

// Eval returns x + y in the common shape of both. Integers wrap.
func (Add) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{
		float:    func(a, b float64) float64 { return a + b },
		signed:   func(a, b int64) (int64, error) { return a + b, nil },
		unsigned: func(a, b uint64) (uint64, error) { return a + b, nil },
	})
}

// Scalar returns x + y for one element of each operand.
func (Add) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	return wrapped(b, d, b.Add(x[0], x[1]))
}

// InferElems returns the sums of known elements.
func (Add) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, dim.Dim.Add)
}

// Grad returns dy for both operands. If an operand was broadcast, its gradient is summed over the broadcast axes.
func (Add) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	g := dy[0]
	return partials(b, n, want,
		func(calculus) *ir.Value { return g },
		func(calculus) *ir.Value { return g },
	)
}

// IsCommutative marks the operator as commutative.
func (Add) IsCommutative() {}

// Neutral returns −0, because x + −0 is x for every x. x + 0 would turn −0 into 0.
func (Add) Neutral() float64 { return math.Copysign(0, -1) }

// Affine returns scales = false, because the operator adds its second operand. It returns a nil inverse, because it
// adds the operand as it is.
func (Add) Affine() (scales bool, inverse ir.Op) { return false, nil }

// IsCheap marks the operator as cheaper to compute than to store.
func (Add) IsCheap() {}
