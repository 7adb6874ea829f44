package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Sub computes x − y with broadcasting, for numbers of one type. Integers wrap.
type Sub struct{ binary[numbers] }

// Eval subtracts.
func (Sub) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{
		float:    func(a, b float64) float64 { return a - b },
		signed:   func(a, b int64) (int64, error) { return a - b, nil },
		unsigned: func(a, b uint64) (uint64, error) { return a - b, nil },
	})
}

// Scalar subtracts.
func (Sub) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	return wrapped(b, d, b.Sub(x[0], x[1]))
}

// InferElems subtracts expressions.
func (Sub) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, dim.Dim.Sub)
}

// Grad returns dy for x, and −dy for y.
func (Sub) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	g := dy[0]
	return partials(b, n, want,
		func(calculus) *ir.Value { return g },
		func(c calculus) *ir.Value { return c.neg(g) },
	)
}

// Neutral returns 0.
func (Sub) Neutral() float64 { return 0 }

// Affine reports an addition of the negated second operand.
func (Sub) Affine() (scales bool, inverse ir.Op) { return false, Neg{} }

// IsCheap marks the operator as cheaper to compute than to store.
func (Sub) IsCheap() {}
