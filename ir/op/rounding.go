package op

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Floor rounds floats down.
type Floor struct{ unary[floats] }

// Ceil rounds floats up.
type Ceil struct{ unary[floats] }

// Round rounds floats to the nearest integer, ties to even.
type Round struct{ unary[floats] }

// Eval returns ⌊x⌋ for each element x.
func (Floor) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, math.Floor) }

// Scalar returns ⌊x⌋ for an element x.
func (Floor) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Unary(kernel.Floor, x[0])
}

// Eval returns ⌈x⌉ for each element x.
func (Ceil) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, math.Ceil) }

// Scalar returns ⌈x⌉ for an element x.
func (Ceil) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Unary(kernel.Ceil, x[0])
}

// Eval returns the integer nearest to each element, ties to even.
func (Round) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, math.RoundToEven) }

// Scalar returns the integer nearest to an element, ties to even.
func (Round) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Unary(kernel.Round, x[0])
}

// InferElems returns ⌊x⌋ for known elements x.
func (Floor) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return integer(r.Num.FloorDiv(dim.Const(r.Den))), true
	})
}

// InferElems returns ⌈x⌉ for known elements x.
func (Ceil) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return integer(r.Num.CeilDiv(dim.Const(r.Den))), true
	})
}

// InferElems returns known integers unchanged, and rounds constants.
func (Round) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		n, ok := r.Num.Int64()
		switch {
		case r.Den == 1:
			return r, true
		case ok:
			return integer(dim.Const64(int64(math.RoundToEven(float64(n) / float64(r.Den))))), true
		}
		return r, false
	})
}

// Grad returns nil: the gradient is zero.
func (Floor) Grad(*ir.Builder, *ir.Node, []*ir.Value, []bool) []*ir.Value { return nil }

// Grad returns nil: the gradient is zero.
func (Ceil) Grad(*ir.Builder, *ir.Node, []*ir.Value, []bool) []*ir.Value { return nil }

// Grad returns nil: the gradient is zero.
func (Round) Grad(*ir.Builder, *ir.Node, []*ir.Value, []bool) []*ir.Value { return nil }

// IsIdempotent marks the operator as idempotent.
func (Ceil) IsIdempotent() {}

// IsIdempotent marks the operator as idempotent.
func (Floor) IsIdempotent() {}

// IsIdempotent marks the operator as idempotent.
func (Round) IsIdempotent() {}
