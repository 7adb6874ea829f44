package elementary

import (
	"github.com/burngen/burngen/ir/kernel"
)

// Mod returns x − y·trunc(x/y), the remainder that C's fmod returns. The remainder is exact, and has the sign of x.
// It is NaN where x is infinite or y is 0.
func Mod(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
	c := on(b, x)
	zero := c.whole(0)
	size, divisor := c.Abs(x), c.Abs(y)
	m, e := c.integer(size)
	d, low := c.integer(divisor)
	unsigned := func(n int64) *kernel.Value { return c.Whole(c.unsigned, n) }
	d = c.Max(d, unsigned(1))

	// Long division of m·2^(e − low) by d, with as many digits at once as fit.
	step := c.whole(c.d.Bits() - c.fraction - 1)
	out := c.While([]*kernel.Value{c.Rem(m, d), c.Sub(e, low)},
		func(v []*kernel.Value) *kernel.Value { return c.Gt(v[1], zero) },
		func(v []*kernel.Value) []*kernel.Value {
			n := c.Min(v[1], step)
			shifted := c.Binary(kernel.Shl, v[0], c.Convert(c.unsigned, n))
			return []*kernel.Value{c.Rem(shifted, d), c.Sub(v[1], n)}
		})
	r := c.scale(c.Convert(c.d, out[0]), c.Sub(low, c.whole(c.bias+c.fraction)))
	r = c.Select(c.Lt(size, divisor), x, c.flip(r, c.sign(x)))
	defined := c.And(c.Lt(size, c.inf()), c.Gt(divisor, c.num(0)))
	return c.Select(c.And(defined, c.Eq(y, y)), r, c.nan())
}

// integer returns integers m and e with x = m·2^(e − bias − fraction), for x ≥ 0. bias and fraction are fields of
// [layout]. m has at most fraction + 1 bits.
func (c calc) integer(x *kernel.Value) (m, e *kernel.Value) {
	bits := c.Bitcast(c.unsigned, x)
	one := c.Whole(c.unsigned, 1)
	field := c.Binary(kernel.Shr, bits, c.Whole(c.unsigned, int64(c.fraction)))
	m = c.And(bits, c.Whole(c.unsigned, 1<<c.fraction-1))
	hidden := c.Binary(kernel.Shl, c.Min(field, one), c.Whole(c.unsigned, int64(c.fraction)))
	return c.Or(m, hidden), c.Convert(c.signed, c.Max(field, one))
}
