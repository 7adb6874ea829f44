package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Sub computes x − y with broadcasting, for numbers of one type. Integers wrap.
type Sub struct{ binary[numbers] }

// Eval returns x − y in the common shape of both. Integers wrap.
func (Sub) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{
		float:    func(a, b float64) float64 { return a - b },
		signed:   func(a, b int64) (int64, error) { return a - b, nil },
		unsigned: func(a, b uint64) (uint64, error) { return a - b, nil },
	})
}

// Scalar returns x − y for one element of each operand.
func (Sub) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	return wrapped(b, d, b.Sub(x[0], x[1]))
}

// InferElems returns the differences of known elements.
func (Sub) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, dim.Dim.Sub)
}

// Grad returns dy for x and −dy for y, summed over broadcast axes.
func (Sub) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	g := dy[0]
	return partials(b, n, want,
		func(calculus) *ir.Value { return g },
		func(c calculus) *ir.Value { return c.neg(g) },
	)
}

// Neutral returns 0: x − 0 is x.
func (Sub) Neutral() float64 { return 0 }

// Affine returns scales = false and the inverse [Neg], because x − y = x + (−y).
func (Sub) Affine() (scales bool, inverse ir.Op) { return false, Neg{} }

// IsCheap marks the operator as cheaper to compute than to store.
func (Sub) IsCheap() {}
