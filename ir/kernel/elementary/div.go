package elementary

import (
	"math"

	"github.com/burngen/burngen/ir/kernel"
)

// Quotient returns x/y. If [kernel.Div] of a device rounds correctly, Quotient returns the result of kernel.Div.
// Otherwise the quotient is rounded correctly if each of x, y and x/y is 0, infinite or NaN, or has a magnitude
// between 2⁻¹⁰⁰ and 2¹⁰⁰. There is one exception: if the exact quotient is almost in the middle between two floats,
// Quotient may return the farther of the two. Almost means at most 2⁻²⁰ units in the last place away.
//
// [kernel.Div] may be off by 2.5 units in the last place. Quotient adds (x − q·y)/y to its result q.
func Quotient(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
	c := on(b, x)
	q := c.Div(x, y)
	p := c.product(q, y)
	rest := c.Div(c.Sub(c.Sub(x, p.hi), p.lo), y)
	// The remainder of small numbers is not exact, and what is infinite or NaN has none.
	smallest := c.Min(c.Min(c.Abs(x), c.Abs(y)), c.Abs(q))
	exact := c.And(c.Gt(smallest, c.num(0x1p-100)), c.Lt(c.Abs(rest), c.num(0x1p100)))
	return c.Select(exact, c.Add(q, rest), q)
}

// Root returns √x. If [kernel.Sqrt] of a device rounds correctly, Root returns the result of kernel.Sqrt. Otherwise
// the root is rounded correctly if x is 0, infinite or NaN, or has a magnitude between 2⁻¹⁰⁰ and 2¹⁰⁰. There is one
// exception: if the exact root is almost in the middle between two floats, Root may return the farther of the two.
// Almost means at most 2⁻¹⁸ units in the last place away.
//
// [kernel.Sqrt] may be off by 3 units in the last place. Root adds (x − s²)/(2s) to its result s.
func Root(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	s := c.Unary(kernel.Sqrt, x)
	square := c.product(s, s)
	rest := c.Div(c.Sub(c.Sub(x, square.hi), square.lo), c.Add(s, s))
	// Where s is right, the remainder is below half a unit, but by so little that it may be rounded to it.
	shrink := 1 - 0x1p-51
	if c.single() {
		shrink = 1 - 0x1p-22
	}
	rest = c.Mul(rest, c.num(shrink))
	exact := c.And(c.Gt(x, c.num(0x1p-100)), c.Lt(x, c.num(0x1p100)))
	return c.Select(exact, c.Add(s, rest), s)
}

// DivBy returns x/y for a constant y. The quotient is rounded correctly if the magnitudes of y and of the quotient
// are between 2⁻¹⁰⁰ and 2¹⁰⁰. There is one exception: if the exact quotient is almost in the middle between two
// floats, DivBy may return the farther of the two. Almost means at most 2⁻²⁰ units in the last place away.
func DivBy(b *kernel.Builder, x *kernel.Value, y float64) *kernel.Value {
	c := on(b, x)
	const limit = 0x1p100
	if size := math.Abs(y); !(size > 1/float64(limit) && size < limit) {
		return c.Div(x, c.num(y))
	}
	inverse := 1 / y
	if c.single() {
		inverse = float64(float32(inverse))
	}
	p := c.product(x, c.num(inverse))
	rest := c.num(math.FMA(-inverse, y, 1) / y)
	return c.Select(c.Lt(c.Abs(p.hi), c.num(limit)), c.Add(p.hi, c.Fma(x, rest, p.lo)), p.hi)
}
