package elementary

import (
	"math"

	"github.com/burngen/burngen/ir/kernel"
)

// pair is the unevaluated sum hi + lo. |lo| is at most about a unit in the last place of hi. So a pair has up to
// twice the precision of a float.
type pair struct{ hi, lo *kernel.Value }

func (c calc) constant(hi, lo float64) pair {
	if c.single() {
		rounded := float64(float32(hi))
		return pair{c.num(rounded), c.num(hi - rounded)}
	}
	return pair{c.num(hi), c.num(lo)}
}

// head returns x with the low half of its significand cleared. The product of two heads is exact.
func (c calc) head(x *kernel.Value) *kernel.Value {
	return c.Bitcast(c.d, c.And(c.Bitcast(c.unsigned, x), c.Whole(c.unsigned, -1<<c.low)))
}

// sum returns x + y exactly, for |x| ≥ |y|.
func (c calc) sum(x, y *kernel.Value) pair {
	s := c.Add(x, y)
	return pair{s, c.Sub(y, c.Sub(s, x))}
}

// anySum returns x + y exactly.
func (c calc) anySum(x, y *kernel.Value) pair {
	s := c.Add(x, y)
	b := c.Sub(s, x)
	return pair{s, c.Add(c.Sub(x, c.Sub(s, b)), c.Sub(y, b))}
}

// product returns x·y as a pair. It splits x and y into their heads, see [calc.head], and what is left. The result is
// exact unless the product of the two heads, or of the two other parts, overflows or underflows.
func (c calc) product(x, y *kernel.Value) pair {
	p := c.Mul(x, y)
	xh, yh := c.head(x), c.head(y)
	xl, yl := c.Sub(x, xh), c.Sub(y, yh)
	rest := c.Sub(c.Mul(xh, yh), p)
	rest = c.Add(rest, c.Mul(xh, yl))
	rest = c.Add(rest, c.Mul(xl, yh))
	return pair{p, c.Add(rest, c.Mul(xl, yl))}
}

func (c calc) times(x, y pair) pair {
	p := c.product(x.hi, y.hi)
	return c.sum(p.hi, c.Add(p.lo, c.Fma(x.hi, y.lo, c.Mul(x.lo, y.hi))))
}

func (c calc) reciprocal(x pair) *kernel.Value {
	w := c.Div(c.num(1), x.hi)
	p := c.product(w, x.hi)
	rest := c.Sub(c.Sub(c.num(1), p.hi), c.Fma(w, x.lo, p.lo))
	return c.Fma(w, rest, w)
}

func (c calc) root(x *kernel.Value) pair {
	s := c.Unary(kernel.Sqrt, x)
	hi := c.head(s)
	lo := c.Div(c.Sub(x, c.Mul(hi, hi)), c.Add(s, hi))
	return pair{hi, c.Select(c.Gt(x, c.num(0)), lo, c.num(0))}
}

// head returns x, truncated to a significand of `bits` bits.
func head(x float64, bits int) float64 {
	return math.Float64frombits(math.Float64bits(x) &^ (1<<(53-bits) - 1))
}
