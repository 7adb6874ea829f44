package op

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// Min is the lesser of x and y, broadcast, of numbers of one type. A NaN operand
// makes the result NaN; of two zeros the result is y.
type Min struct{ binary[numbers] }

// Eval takes the lesser.
func (Min) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{float: lesser[float64], signed: sure(lesser[int64]), unsigned: sure(lesser[uint64])})
}

// InferElems takes the lesser expression.
func (Min) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, ir.Dim.Min)
}

// Call is cpu.Min or cpu.MinScalar.
func (Min) Call(n *ir.Node) (ir.Call, error) { return callBinary(n, "Min", true), nil }

// Grad is the result's of the operand that is the result, half of it of equal ones.
func (Min) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	g, x, y := of[0], n.Arg(0), n.Arg(1)
	return partials(b, n, want,
		func(c calculus) *ir.Value { return c.choose(x, y, Less{}, g) },
		func(c calculus) *ir.Value { return c.choose(y, x, Less{}, g) },
	)
}

// Max is the greater of x and y, broadcast, of numbers of one type. A NaN operand
// makes the result NaN; of two zeros the result is y.
type Max struct{ binary[numbers] }

// Eval takes the greater.
func (Max) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{float: greater[float64], signed: sure(greater[int64]), unsigned: sure(greater[uint64])})
}

// InferElems takes the greater expression.
func (Max) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, ir.Dim.Max)
}

// Call is cpu.Max or cpu.MaxScalar.
func (Max) Call(n *ir.Node) (ir.Call, error) { return callBinary(n, "Max", true), nil }

// Grad is the result's of the operand that is the result, half of it of equal ones.
func (Max) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	g, x, y := of[0], n.Arg(0), n.Arg(1)
	return partials(b, n, want,
		func(c calculus) *ir.Value { return c.choose(x, y, Greater{}, g) },
		func(c calculus) *ir.Value { return c.choose(y, x, Greater{}, g) },
	)
}

// real is the constraint of what the evaluator computes with.
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

// sure makes a function that cannot fail one of a [formula].
func sure[T any](f func(a, b T) T) func(a, b T) (T, error) {
	return func(a, b T) (T, error) { return f(a, b), nil }
}

// Neutral is less than every number.
func (Max) Neutral() float64 { return math.Inf(-1) }

// Neutral is greater than every number.
func (Min) Neutral() float64 { return math.Inf(1) }

// IsIdempotent marks the operator.
func (Max) IsIdempotent() {}

// IsIdempotent marks the operator.
func (Min) IsIdempotent() {}

// IsCheap marks the operator.
func (Max) IsCheap() {}

// IsCheap marks the operator.
func (Min) IsCheap() {}
