package narrow

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// divide divides x by y, both of type d. It returns the quotient, truncated, and the remainder, which has the sign
// of x. It computes them from the absolute values.
func (n *narrowing) divide(d ir.DType, x, y pair) (quotient, remainder pair) {
	quotient, remainder = n.divideUnsigned(n.unary(kernel.Abs, d, x), n.unary(kernel.Abs, d, y))
	if d == ir.U64 {
		return quotient, remainder
	}
	isNegative := n.isNegative(d, x)
	quotient = n.choose(n.Ne(isNegative, n.isNegative(d, y)), n.negate(quotient), quotient)
	return quotient, n.choose(isNegative, n.negate(remainder), remainder)
}

// divideUnsigned returns the quotient of x and y and its remainder. If both operands are less than 2³², it divides
// integers of 32 bits.
func (n *narrowing) divideUnsigned(x, y pair) (quotient, remainder pair) {
	isShort := n.Eq(n.Or(x.high, y.high), n.word(0))
	zero := n.word(0)
	r := n.If(isShort,
		func() []*kernel.Value {
			return []*kernel.Value{n.Div(x.low, y.low), zero, n.Rem(x.low, y.low), zero}
		},
		func() []*kernel.Value { return n.longDivision(x, y) })
	return pair{r[0], r[1]}, pair{r[2], r[3]}
}

// longDivision divides bit by bit. Each step shifts the highest bit of x into the remainder, and a bit of the
// quotient into x. This bit is 1 if the remainder is at least y; then y is subtracted from the remainder.
// longDivision returns the halves of the quotient and of the remainder.
func (n *narrowing) longDivision(x, y pair) []*kernel.Value {
	zero, one := n.word(0), n.word(1)
	return n.Times(n.Int(64), []*kernel.Value{x.low, x.high, zero, zero}, func(_ *kernel.Value, v []*kernel.Value) []*kernel.Value {
		x, r := pair{v[0], v[1]}, pair{v[2], v[3]}
		isPast := n.Lt(n.Bitcast(ir.I32, r.high), n.Int(0)) // the remainder will exceed 64 bits
		top := n.Binary(kernel.Shr, x.high, n.word(31))
		x, r = n.shiftLeft(x, one), n.shiftLeft(r, one)
		r.low = n.Or(r.low, top)
		fits := n.Or(isPast, n.Not(n.less(ir.U64, r, y)))
		r = n.choose(fits, n.sub(r, y), r)
		x.low = n.Or(x.low, n.one(fits))
		return []*kernel.Value{x.low, x.high, r.low, r.high}
	})
}
