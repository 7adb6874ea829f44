package op

import (
	"errors"

	"github.com/burngen/burngen/ir"
)

// Div is x / y, broadcast, of numbers of one type. The quotient of integers is
// truncated toward zero; an integer divided by zero is an error when the model
// runs, and the least integer divided by −1 wraps to itself.
type Div struct{ binary[numbers] }

var errDivideByZero = errors.New("integer division by zero")

// Eval divides.
func (Div) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{
		float:    func(a, b float64) float64 { return a / b },
		signed:   nonZero(func(a, b int64) int64 { return a / b }),
		unsigned: nonZero(func(a, b uint64) uint64 { return a / b }),
	})
}

// nonZero makes a function report a second argument of zero.
func nonZero[T int64 | uint64](f func(a, b T) T) func(a, b T) (T, error) {
	return func(a, b T) (T, error) {
		if b == 0 {
			return 0, errDivideByZero
		}
		return f(a, b), nil
	}
}

// InferElems divides expressions.
func (Div) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBroadcast(in, out, func(e []ir.Ratio) (ir.Ratio, bool) {
		q, ok := quotient(e[0], e[1])
		if out.DType.IsFloat() {
			return q, ok
		}
		if ok && q.Den == 1 {
			return q, true
		}
		return truncatedQuotient(e[0].Num, e[1].Num)
	})
}

// quotient returns a/b where it is an expression over a constant.
func quotient(a, b ir.Ratio) (ir.Ratio, bool) {
	if n, ok := b.Num.Int(); ok {
		switch {
		case n == 0:
			return a, false
		case n < 0:
			return fraction(a.Num.Mul(ir.Const(-b.Den)), a.Den*-n)
		}
		return fraction(a.Num.Mul(ir.Const(b.Den)), a.Den*n)
	}
	q, ok := a.Num.Mul(ir.Const(b.Den)).DivExact(b.Num)
	if !ok {
		return a, false
	}
	return fraction(q, a.Den)
}

// truncatedQuotient returns a/b rounded toward zero.
func truncatedQuotient(a, b ir.Dim) (ir.Ratio, bool) {
	switch n, d, ok := constants(a, b); {
	case ok && d != 0:
		return integer(ir.Const64(n / d)), true
	case !ok && a.NonNegative() && b.NonNegative():
		return integer(a.FloorDiv(b)), true
	}
	return ir.Ratio{}, false
}

// constants returns the values of two constant expressions.
func constants(a, b ir.Dim) (x, y int64, ok bool) {
	x, okX := a.Int64()
	y, okY := b.Int64()
	return x, y, okX && okY
}

// Call is cpu.Div or cpu.DivInt, or a form with a scalar.
func (Div) Call(n *ir.Node) (ir.Call, error) {
	if n.Arg(0).Type.DType.IsFloat() {
		return callBinary(n, "Div", false), nil
	}
	return callBinary(n, "DivInt", false), nil
}

// Grad is the result's over y, and times −z/y, where z = x/y.
func (Div) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	g, y, z := of[0], n.Arg(1), n.Results[0]
	return partials(b, n, want,
		func(c calculus) *ir.Value { return c.div(g, y) },
		func(c calculus) *ir.Value { return c.neg(c.mul(g, c.div(z, y))) },
	)
}

// Neutral is 1.
func (Div) Neutral() float64 { return 1 }

// Affine scales by the reciprocal.
func (Div) Affine() (scales bool, inverse ir.Op) { return true, Reciprocal{} }
