package op

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Min returns the smaller of x and y with broadcasting, for numbers of one type. If an operand is
// NaN, the result is NaN. If both are zeros, the result is y.
type Min struct{ binary[numbers] }

// Eval returns the smaller of x and y in the common shape of both.
func (Min) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{float: lesser[float64], signed: sure(lesser[int64]), unsigned: sure(lesser[uint64])})
}

// Scalar returns the smaller of one element of each operand.
func (Min) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return orNaN(b, x[0], b.Min(x[0], x[1]))
}

func orNaN(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
	if !x.Type.DType.IsFloat() {
		return y
	}
	return b.Select(b.Ne(x, x), x, y)
}

// InferElems returns the smaller element of each pair, for operands whose elements are known.
func (Min) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, dim.Dim.Min)
}

// Grad returns dy for the operand that is the result, and 0 for the other operand. Where the operands are equal,
// both get dy/2.
func (Min) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	g, x, y := dy[0], n.Arg(0), n.Arg(1)
	return partials(b, n, want,
		func(c calculus) *ir.Value { return c.choose(x, y, Less{}, g) },
		func(c calculus) *ir.Value { return c.choose(y, x, Less{}, g) },
	)
}

// Max returns the larger of x and y with broadcasting, for numbers of one type. If an operand is
// NaN, the result is NaN. If both are zeros, the result is y.
type Max struct{ binary[numbers] }

// Eval returns the larger of x and y in the common shape of both.
func (Max) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{float: greater[float64], signed: sure(greater[int64]), unsigned: sure(greater[uint64])})
}

// Scalar returns the larger of one element of each operand.
func (Max) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return orNaN(b, x[0], b.Max(x[0], x[1]))
}

// InferElems returns the larger element of each pair, for operands whose elements are known.
func (Max) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, dim.Dim.Max)
}

// Grad returns dy for the operand that is the result, and 0 for the other operand. Where the operands are equal,
// both get dy/2.
func (Max) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	g, x, y := dy[0], n.Arg(0), n.Arg(1)
	return partials(b, n, want,
		func(c calculus) *ir.Value { return c.choose(x, y, Greater{}, g) },
		func(c calculus) *ir.Value { return c.choose(y, x, Greater{}, g) },
	)
}

type real interface{ float64 | int64 | uint64 }

func lesser[T real](a, b T) T {
	if a < b || a != a {
		return a
	}
	return b
}

func greater[T real](a, b T) T {
	if a > b || a != a {
		return a
	}
	return b
}

func sure[T any](f func(a, b T) T) func(a, b T) (T, error) {
	return func(a, b T) (T, error) { return f(a, b), nil }
}

// Neutral returns −∞, which does not change any number.
func (Max) Neutral() float64 { return math.Inf(-1) }

// Neutral returns +∞, which does not change any number.
func (Min) Neutral() float64 { return math.Inf(1) }

// IsIdempotent marks the operator as idempotent.
func (Max) IsIdempotent() {}

// IsIdempotent marks the operator as idempotent.
func (Min) IsIdempotent() {}

// IsCheap marks the operator as cheaper to compute than to store.
func (Max) IsCheap() {}

// IsCheap marks the operator as cheaper to compute than to store.
func (Min) IsCheap() {}
