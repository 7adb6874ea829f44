package op

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Neg computes −x for floats or signed integers. The smallest integer is unchanged.
type Neg struct{ unary[signeds] }

// Abs computes |x| for numbers. The smallest integer is unchanged.
type Abs struct{ unary[numbers] }

// Sign computes the sign −1, 0 or 1 for numbers. Zeros and NaN do not change.
type Sign struct{ unary[numbers] }

// Reciprocal computes 1/x for floats.
type Reciprocal struct{ unary[floats] }

// Eval negates.
func (Neg) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{
		float:  func(x float64) float64 { return -x },
		signed: func(x int64) int64 { return -x },
	})
}

// Scalar negates.
func (Neg) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	return wrapped(b, d, b.Neg(x[0]))
}

// Eval takes magnitudes.
func (Abs) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{
		float:    math.Abs,
		signed:   func(x int64) int64 { return max(x, -x) },
		unsigned: func(x uint64) uint64 { return x },
	})
}

// Scalar takes the magnitude.
func (Abs) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	if d.Class() == ir.Unsigned {
		return x[0]
	}
	return wrapped(b, d, b.Abs(x[0]))
}

// Eval takes signs.
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

// Scalar takes the sign.
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

// Eval divides.
func (Reciprocal) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, func(x float64) float64 { return 1 / x })
}

// Scalar divides.
func (Reciprocal) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Div(number(b, x[0], 1), x[0])
}

// InferElems negates expressions.
func (Neg) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return ir.Ratio{Num: r.Num.Neg(), Den: r.Den}, true
	})
}

// InferElems returns the larger of an expression and its negative.
func (Abs) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return ir.Ratio{Num: r.Num.Max(r.Num.Neg()), Den: r.Den}, true
	})
}

// InferElems clamps integer expressions to [−1, 1].
func (Sign) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return integer(r.Num.Min(dim.Const(1)).Max(dim.Const(-1))), true
	})
}

// InferElems inverts constants.
func (Reciprocal) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) { return quotient(truth(true), r) })
}

// Grad returns −dy.
func (Neg) Grad(b *ir.Builder, _ *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{b.Node(Neg{}, dy[0])}
}

// Grad multiplies dy by the derivative: sign x.
func (Abs) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, dy, func(c calculus, x, _ *ir.Value) *ir.Value { return c.Node(Sign{}, x) })
}

// Grad returns zero.
func (Sign) Grad(*ir.Builder, *ir.Node, []*ir.Value, []bool) []*ir.Value { return nil }

// Grad multiplies dy by the derivative: −y².
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
