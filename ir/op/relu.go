package op

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Relu computes max(x, 0) for numbers. It returns −0 and NaN unchanged.
type Relu struct{ unary[numbers] }

// Eval returns max(x, 0) for each element x.
func (Relu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{
		float:    positive[float64],
		signed:   positive[int64],
		unsigned: func(x uint64) uint64 { return x },
	})
}

// Scalar returns max(x, 0) for an element x.
func (Relu) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Max(number(b, x[0], 0), x[0])
}

func positive[T float64 | int64](x T) T {
	if x < 0 {
		return 0
	}
	return x
}

// InferElems returns max(x, 0) for known elements x.
func (Relu) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return fraction(r.Num.Max(dim.Const(0)), r.Den)
	})
}

// Grad returns dy where the result is positive, and 0 elsewhere.
func (Relu) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{b.Node(Gate{}, dy[0], n.Results[0])}
}

// IsIdempotent marks the operator as idempotent.
func (Relu) IsIdempotent() {}

// Limits returns 0 and +∞.
func (Relu) Limits() (lo, hi float64) { return 0, math.Inf(1) }

// IsCheap marks the operator as cheaper to compute than to store.
func (Relu) IsCheap() {}
