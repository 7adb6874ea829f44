package op

import (
	"errors"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
)

// Div computes x / y with broadcasting, for numbers of one type. Integer quotients truncate toward
// zero. An integer division by zero is an error at run time, and the smallest integer divided by −1
// wraps to itself.
type Div struct{ binary[numbers] }

var errDivideByZero = errors.New("integer division by zero")

// Eval returns x / y in the common shape of both. It returns an error if an integer divisor is 0.
func (Div) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{
		float:    func(a, b float64) float64 { return a / b },
		signed:   nonZero(func(a, b int64) int64 { return a / b }),
		unsigned: nonZero(func(a, b uint64) uint64 { return a / b }),
	})
}

// Scalar returns x / y for one element of each operand. It returns nil for integers unless the
// divisor is a constant other than 0.
func (Div) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	if x[1].Type.DType.IsFloat() {
		return elementary.Quotient(b, x[0], x[1])
	}
	divisor, ok := wholeConst(d, x[1])
	switch {
	case !ok || divisor == 0:
		return nil
	case divisor == -1 && d.Class() == ir.Signed:
		return wrapped(b, d, b.Neg(x[0]))
	}
	return b.Div(x[0], x[1])
}

// wholeConst returns the value of v if v is a constant of the integer type d. A u64 is returned as
// the int64 with the same bits.
func wholeConst(d ir.DType, v *kernel.Value) (n int64, ok bool) {
	bits, ok := v.Const()
	return ir.WrapInt(d, int64(bits)), ok
}

func nonZero[T int64 | uint64](f func(a, b T) T) func(a, b T) (T, error) {
	return func(a, b T) (T, error) {
		if b == 0 {
			return 0, errDivideByZero
		}
		return f(a, b), nil
	}
}

// InferElems returns the quotients of known elements, truncated for integer types.
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

// quotient returns a/b. It returns false unless the quotient is an expression divided by a constant of at most
// [maxDen].
func quotient(a, b ir.Ratio) (ir.Ratio, bool) {
	if n, ok := b.Num.Int(); ok {
		switch {
		case n == 0:
			return a, false
		case n < 0:
			return fraction(a.Num.Mul(dim.Const(-b.Den)), a.Den*-n)
		}
		return fraction(a.Num.Mul(dim.Const(b.Den)), a.Den*n)
	}
	q, ok := a.Num.Mul(dim.Const(b.Den)).DivExact(b.Num)
	if !ok {
		return a, false
	}
	return fraction(q, a.Den)
}

// truncatedQuotient returns a/b rounded toward zero. It returns false if the quotient cannot be an expression: for
// example if b is 0, or if a sign is unknown.
func truncatedQuotient(a, b dim.Dim) (ir.Ratio, bool) {
	switch n, d, ok := constants(a, b); {
	case ok && d != 0:
		return integer(dim.Const64(n / d)), true
	case !ok && a.NonNegative() && b.NonNegative():
		return integer(a.FloorDiv(b)), true
	}
	return ir.Ratio{}, false
}

func constants(a, b dim.Dim) (x, y int64, ok bool) {
	x, okX := a.Int64()
	y, okY := b.Int64()
	return x, y, okX && okY
}

// Grad returns dy/y for x, and −dy·z/y for y, where z = x/y.
func (Div) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	g, y, z := dy[0], n.Arg(1), n.Results[0]
	return partials(b, n, want,
		func(c calculus) *ir.Value { return c.div(g, y) },
		func(c calculus) *ir.Value { return c.neg(c.mul(g, c.div(z, y))) },
	)
}

// Neutral returns 1: x/1 is x.
func (Div) Neutral() float64 { return 1 }

// Affine returns scales = true and the inverse [Reciprocal], because x / y = x·(1/y).
func (Div) Affine() (scales bool, inverse ir.Op) { return true, Reciprocal{} }
