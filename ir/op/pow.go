package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Pow is x to the power y, broadcast, of numbers of one type. Powers of integers
// wrap; a negative power of an integer other than 1 and −1 is 0.
type Pow struct{ binary[numbers] }

// Eval raises to powers.
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

// maxPower is the largest exponent that expressions are raised to.
const maxPower = 8

// InferElems raises expressions to small constant powers.
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

// Call is cpu.Pow or cpu.PowInt, or a form with a scalar.
func (Pow) Call(n *ir.Node) (ir.Call, error) {
	if n.Arg(0).Type.DType.IsFloat() {
		return callBinary(n, "Pow", false), nil
	}
	return callBinary(n, "PowInt", false), nil
}

// Grad is that of the derivatives y·x^(y − 1), 0 where y is 0, and z·log x, 0 where x
// is, where z = x^y.
func (Pow) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	g, x, y, z := of[0], n.Arg(0), n.Arg(1), n.Results[0]
	return partials(b, n, want,
		func(c calculus) *ir.Value {
			slope := c.mul(y, c.Node(Pow{}, x, c.plus(y, -1)))
			if s, ok := scalar(y); ok && s.Float != 0 {
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

// importPow reads Pow. From opset 12 the exponent may have another type than the
// base, which the result has: a float base takes the exponent in its own type, an
// integer base is raised in a type that holds both.
func importPow(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	y, err := broadcastOperand(c)
	if err != nil {
		return nil, err
	}
	d := powType(x.Type.DType, y.Type.DType)
	z := b.Node(Pow{}, convert(b, x, d), convert(b, y, d))
	return []*ir.Value{convert(b, z, x.Type.DType)}, nil
}

// powType is the type in which a base is raised to an exponent of another type.
func powType(base, exponent ir.DType) ir.DType {
	switch {
	case base == exponent || base.IsFloat():
		return base
	case exponent.IsFloat():
		return ir.F64
	}
	return ir.I64
}

// Neutral is 1.
func (Pow) Neutral() float64 { return 1 }
