package elementary

import (
	"math"

	"github.com/burngen/burngen/ir/kernel"
)

// DivBy returns x/y for a constant y. The quotient is rounded correctly, except if it is huge,
// subnormal, or within 2⁻²⁰ units in the last place of the middle between two floats.
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
