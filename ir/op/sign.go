package op

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
)

// Neg computes −x for floats or signed integers. The smallest integer stays as it is.
type Neg struct{ unary[signeds] }

// Abs computes |x| for numbers. The smallest integer is unchanged.
type Abs struct{ unary[numbers] }

// Sign computes the sign of numbers: −1, 0 or 1. It returns −0 and NaN unchanged.
type Sign struct{ unary[numbers] }

// Reciprocal computes 1/x for floats.
type Reciprocal struct{ unary[floats] }

// Eval returns −x for each element x.
func (Neg) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{
		float:  func(x float64) float64 { return -x },
		signed: func(x int64) int64 { return -x },
	})
}

// Scalar returns −x for an element x.
func (Neg) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	return wrapped(b, d, b.Neg(x[0]))
}

// Eval returns |x| for each element x.
func (Abs) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{
		float:    math.Abs,
		signed:   func(x int64) int64 { return max(x, -x) },
		unsigned: func(x uint64) uint64 { return x },
	})
}

// Scalar returns |x| for an element x.
func (Abs) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	if d.Class() == ir.Unsigned {
		return x[0]
	}
	return wrapped(b, d, b.Abs(x[0]))
}

// Eval returns −1, 0 or 1 for each element x, and NaN for NaN.
func (Sign) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{
		float: func(x float64) float64 {
			if x == 0 || x != x {
				return x
			}
			return math.Copysign(1, x)
		},
		signed:   func(x int64) int64 { return max(-1, min(x, 1)) },
		unsigned: func(x uint64) uint64 { return min(x, 1) },
	})
}

// Scalar returns the sign of an element.
func (Sign) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	one := number(b, x[0], 1)
	switch d.Class() {
	case ir.Unsigned:
		return b.Min(x[0], one)
	case ir.Signed:
		return clamped(b, x[0], b.Neg(one), one)
	}
	y := b.Select(b.Gt(x[0], number(b, x[0], 0)), one, x[0])
	return b.Select(isNegative(b, x[0]), b.Neg(one), y)
}

// Eval returns 1/x for each element x.
func (Reciprocal) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, func(x float64) float64 { return 1 / x })
}

// Scalar returns 1/x for an element x.
func (Reciprocal) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return elementary.Quotient(b, number(b, x[0], 1), x[0])
}

// InferElems returns −x for known elements x.
func (Neg) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return ir.Ratio{Num: r.Num.Neg(), Den: r.Den}, true
	})
}

// InferElems returns max(x, −x) for known elements x.
func (Abs) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return ir.Ratio{Num: r.Num.Max(r.Num.Neg()), Den: r.Den}, true
	})
}

// InferElems returns the signs of known elements.
func (Sign) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return integer(r.Num.Min(dim.Const(1)).Max(dim.Const(-1))), true
	})
}

// InferElems returns 1/x for known elements x that are constants.
func (Reciprocal) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) { return quotient(truth(true), r) })
}

// Grad returns −dy.
func (Neg) Grad(b *ir.Builder, _ *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{b.Node(Neg{}, dy[0])}
}

// Grad returns dy times the sign of x.
func (Abs) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.Node(Sign{}, x) })
}

// Grad returns nil: the gradient is zero.
func (Sign) Grad(*ir.Builder, *ir.Node, []*ir.Value, []bool) []*ir.Value { return nil }

// Grad returns −dy·y², where y = 1/x is the result.
func (Reciprocal) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, _, y *ir.Value) *ir.Value { return c.neg(c.square(y)) })
}

// IsInvolution marks the operator as its own inverse.
func (Neg) IsInvolution() {}

// IsIdempotent marks the operator as idempotent.
func (Abs) IsIdempotent() {}

// IsIdempotent marks the operator as idempotent.
func (Sign) IsIdempotent() {}

// IsCheap marks the operator as cheaper to compute than to store.
func (Abs) IsCheap() {}

// IsCheap marks the operator as cheaper to compute than to store.
func (Neg) IsCheap() {}
