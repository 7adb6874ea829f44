package op

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Pow computes x^y with broadcasting, for numbers of one type. Integer powers wrap. If x is an integer other than 1
// and −1, its negative powers are 0.
type Pow struct{ binary[numbers] }

// Eval returns x^y in the common shape of both. It computes floats in float64.
func (Pow) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{
		float: portable.Pow,
		signed: func(a, b int64) (int64, error) {
			if b >= 0 {
				return int64(powerOf(uint64(a), uint64(b))), nil
			}
			switch {
			case a == 1, a == -1 && b%2 == 0:
				return 1, nil
			case a == -1:
				return -1, nil
			}
			return 0, nil
		},
		unsigned: func(a, b uint64) (uint64, error) { return powerOf(a, b), nil },
	})
}

// Scalar returns x^y for one element of each operand. If y is a constant that [easyPower] supports, it multiplies,
// divides or takes a root.
func (Pow) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	if !x[0].Type.DType.IsFloat() {
		return wrapped(b, d, wholePower(b, x[0], x[1]))
	}
	if p := easyPower(b, x[0], x[1]); p != nil {
		return p
	}
	return elementary.Pow(b, x[0], x[1])
}

// easyPower returns x^y if y is one of the constants −1, 0.5, 2 and 3. Otherwise it returns nil.
func easyPower(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
	if _, ok := y.Const(); !ok {
		return nil
	}
	is := func(n float64) bool { return y == number(b, y, n) }
	switch {
	case is(-1):
		return elementary.Quotient(b, number(b, x, 1), x)
	case is(0.5): // −0 gives 0, and −Inf gives Inf
		isNaN := b.And(isNegative(b, x), b.Gt(x, number(b, x, math.Inf(-1))))
		return b.Select(isNaN, number(b, x, math.NaN()), elementary.Root(b, b.Abs(x)))
	case is(2):
		return b.Mul(x, x)
	case is(3):
		return b.Mul(b.Mul(x, x), x)
	}
	return nil
}

// wholePower returns x^n modulo 2^width, for integers of `width` bits. It squares repeatedly. A negative power is
// 0, unless x is 1 or −1.
func wholePower(b *kernel.Builder, x, n *kernel.Value) *kernel.Value {
	zero, one := number(b, n, 0), number(b, n, 1)
	left := n
	if n.Type.DType.Class() == ir.Signed {
		left = b.Max(n, zero)
	}
	out := b.While([]*kernel.Value{one, x, left},
		func(v []*kernel.Value) *kernel.Value { return b.Ne(v[2], zero) },
		func(v []*kernel.Value) []*kernel.Value {
			p := b.Select(b.Ne(b.And(v[2], one), zero), b.Mul(v[0], v[1]), v[0])
			return []*kernel.Value{p, b.Mul(v[1], v[1]), b.Binary(kernel.Shr, v[2], one)}
		})
	p := out[0]
	if n.Type.DType.Class() != ir.Signed {
		return p
	}
	isUnit := b.Or(b.Eq(x, one), b.Eq(x, b.Neg(one)))
	isEven := b.Eq(b.And(n, one), zero)
	inverse := b.Select(isUnit, b.Select(isEven, one, x), zero)
	return b.Select(b.Lt(n, zero), inverse, p)
}

// powerOf returns a to the power n modulo 2⁶⁴, by squaring.
func powerOf(a, n uint64) uint64 {
	p := uint64(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			p *= a
		}
		a *= a
	}
	return p
}

// maxPower is the largest exponent to which expressions are raised.
const maxPower = 8

// InferElems returns x^y for known elements x, if each y is a known integer from 0 to [maxPower].
func (Pow) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBroadcast(in, out, func(e []ir.Ratio) (ir.Ratio, bool) {
		n, ok := e[1].Num.Int()
		if !ok || e[1].Den != 1 || n < 0 || n > maxPower {
			return ir.Ratio{}, false
		}
		p := truth(true)
		for range n {
			if p, ok = timesRatio(p, e[0]); !ok {
				return p, false
			}
		}
		return p, true
	})
}

// Grad multiplies dy by the derivatives of z = x^y. The derivative with respect to x is y·x^(y − 1), or 0 where y
// is 0. The derivative with respect to y is z·log x, or 0 where x is 0.
func (Pow) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	g, x, y, z := dy[0], n.Arg(0), n.Arg(1), n.Results[0]
	return partials(b, n, want,
		func(c calculus) *ir.Value {
			slope := c.mul(y, c.Node(Pow{}, x, c.plus(y, -1)))
			if t, ok := y.ConstValue(); ok && t.Stored() == 1 && t.DType.IsFloat() && t.Float(0) != 0 {
				return c.mul(g, slope)
			}
			zero := c.Node(Equal{}, y, c.num(y, 0))
			return c.mul(g, c.Node(Where{}, zero, c.num(x, 0), slope))
		},
		func(c calculus) *ir.Value {
			zero := c.Node(Equal{}, x, c.num(x, 0))
			return c.mul(g, c.mul(z, c.Node(Where{}, zero, c.num(x, 0), c.Node(Log{}, x))))
		},
	)
}

func importPow(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	y, err := broadcastOperand(c)
	if err != nil {
		return nil, err
	}
	d := powType(x.Type.DType, y.Type.DType)
	z := b.Node(Pow{}, ConvertTo(b, x, d), ConvertTo(b, y, d))
	return []*ir.Value{ConvertTo(b, z, x.Type.DType)}, nil
}

func powType(base, exponent ir.DType) ir.DType {
	switch {
	case base == exponent || base.IsFloat():
		return base
	case exponent.IsFloat():
		return ir.F64
	}
	return ir.I64
}

// Neutral returns 1: x^1 is x.
func (Pow) Neutral() float64 { return 1 }
