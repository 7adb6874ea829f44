package op

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// Neg is −x, of floats or signed integers; the least integer stays as it is.
type Neg struct{ unary[signeds] }

// Abs is |x|, of numbers; the least integer stays as it is.
type Abs struct{ unary[numbers] }

// Sign is −1, 0 or 1 as x is negative, zero or positive, of numbers. Zeros and
// NaN stay as they are.
type Sign struct{ unary[numbers] }

// Reciprocal is 1/x, of floats.
type Reciprocal struct{ unary[floats] }

// Eval negates.
func (Neg) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{
		float:  func(x float64) float64 { return -x },
		signed: func(x int64) int64 { return -x },
	})
}

// Eval takes magnitudes.
func (Abs) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{
		float:    math.Abs,
		signed:   func(x int64) int64 { return max(x, -x) },
		unsigned: func(x uint64) uint64 { return x },
	})
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

// Eval divides.
func (Reciprocal) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalUnary(in, func(x float64) float64 { return 1 / x })
}

// InferElems negates expressions.
func (Neg) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return ir.Ratio{Num: r.Num.Neg(), Den: r.Den}, true
	})
}

// InferElems takes the greater of an expression and its negative.
func (Abs) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return ir.Ratio{Num: r.Num.Max(r.Num.Neg()), Den: r.Den}, true
	})
}

// InferElems limits integer expressions to −1…1.
func (Sign) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return integer(r.Num.Min(ir.Const(1)).Max(ir.Const(-1))), true
	})
}

// InferElems inverts constants.
func (Reciprocal) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) { return quotient(truth(true), r) })
}

// Call is cpu.Neg.
func (Neg) Call(*ir.Node) (ir.Call, error) { return callUnary("Neg"), nil }

// Grad is −1 times that of the result.
func (Neg) Grad(b *ir.Builder, _ *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{b.Node(Neg{}, of[0])}
}

// Call is cpu.Abs.
func (Abs) Call(*ir.Node) (ir.Call, error) { return callUnary("Abs"), nil }

// Grad is that of the derivative sign x.
func (Abs) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, x, _ *ir.Value) *ir.Value { return c.Node(Sign{}, x) })
}

// Call is cpu.Sign.
func (Sign) Call(*ir.Node) (ir.Call, error) { return callUnary("Sign"), nil }

// Grad is zero.
func (Sign) Grad(*ir.Builder, *ir.Node, []*ir.Value, []bool) []*ir.Value { return nil }

// Call is cpu.Reciprocal.
func (Reciprocal) Call(*ir.Node) (ir.Call, error) { return callUnary("Reciprocal"), nil }

// Grad is that of the derivative −y².
func (Reciprocal) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return chainRule(b, n, of, func(c calculus, _, y *ir.Value) *ir.Value { return c.neg(c.square(y)) })
}

// IsInvolution marks the operator.
func (Neg) IsInvolution() {}

// IsIdempotent marks the operator.
func (Abs) IsIdempotent() {}

// IsIdempotent marks the operator.
func (Sign) IsIdempotent() {}

// IsCheap marks the operator.
func (Abs) IsCheap() {}

// IsCheap marks the operator.
func (Neg) IsCheap() {}
