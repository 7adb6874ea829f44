package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// Mul computes x · y with broadcasting, for numbers of one type. Integers wrap.
type Mul struct{ binary[numbers] }

// Eval returns x·y in the common shape of both. Integers wrap.
func (Mul) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{
		float:    func(a, b float64) float64 { return a * b },
		signed:   func(a, b int64) (int64, error) { return a * b, nil },
		unsigned: func(a, b uint64) (uint64, error) { return a * b, nil },
	})
}

// Scalar returns x·y for one element of each operand.
func (Mul) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	return wrapped(b, d, b.Mul(x[0], x[1]))
}

// InferElems returns the products of known elements.
func (Mul) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBroadcast(in, out, func(e []ir.Ratio) (ir.Ratio, bool) { return timesRatio(e[0], e[1]) })
}

func timesRatio(a, b ir.Ratio) (ir.Ratio, bool) {
	return fraction(a.Num.Mul(b.Num), a.Den*b.Den)
}

// Grad returns dy·y for x and dy·x for y, summed over broadcast axes.
func (Mul) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	g, x, y := dy[0], n.Arg(0), n.Arg(1)
	return partials(b, n, want,
		func(c calculus) *ir.Value { return c.mul(g, y) },
		func(c calculus) *ir.Value { return c.mul(g, x) },
	)
}

// IsCommutative marks the operator as commutative.
func (Mul) IsCommutative() {}

// Neutral returns 1: x·1 is x.
func (Mul) Neutral() float64 { return 1 }

// Affine returns scales = true, because the operator multiplies by its second operand. It returns a nil inverse,
// because it multiplies by the operand as it is.
func (Mul) Affine() (scales bool, inverse ir.Op) { return true, nil }

// IsCheap marks the operator as cheaper to compute than to store.
func (Mul) IsCheap() {}
