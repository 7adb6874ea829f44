package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

func importQuant(c ir.Importer) ([]*ir.Value, error) {
	b, x, scale, zero := c.Builder(), c.Arg(0), c.Arg(1), c.Arg(2)
	bits, err := bitWidth(c, 3)
	if err != nil {
		return nil, err
	}
	signed, narrow := c.Int("signed", 1) != 0, c.Int("narrow", 0) != 0
	lo, hi := 0.0, math.Exp2(bits)-1
	if signed {
		lo, hi = -math.Exp2(bits-1), math.Exp2(bits-1)-1
	}
	switch {
	case narrow && signed:
		lo++
	case narrow:
		hi--
	}
	d := x.Type.DType
	y := b.Node(Add{}, b.Node(Div{}, x, scale), zero)
	y = b.Node(Clip{Lo: ir.RoundFloat(d, lo), Hi: ir.RoundFloat(d, hi)}, y)
	if y, err = rounded(b, y, c.Text("rounding_mode", "ROUND")); err != nil {
		return nil, err
	}
	return []*ir.Value{b.Node(Mul{}, b.Node(Sub{}, y, zero), scale)}, nil
}

func importBipolarQuant(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	d := x.Type.DType
	sign := b.Node(Where{}, b.Node(GreaterOrEqual{}, x, b.Scalar(d, 0)), b.Scalar(d, 1), b.Scalar(d, -1))
	return []*ir.Value{b.Node(Mul{}, sign, c.Arg(1))}, nil
}

func importTrunc(c ir.Importer) ([]*ir.Value, error) {
	b, x, scale, zero := c.Builder(), c.Arg(0), c.Arg(1), c.Arg(2)
	from, err := bitWidth(c, 3)
	if err != nil {
		return nil, err
	}
	to, err := bitWidth(c, 4)
	if err != nil {
		return nil, err
	}
	y := b.Node(Round{}, b.Node(Add{}, b.Node(Div{}, x, scale), zero))
	y = b.Node(Div{}, y, b.Scalar(x.Type.DType, math.Exp2(from-to)))
	if y, err = rounded(b, y, c.Text("rounding_mode", "FLOOR")); err != nil {
		return nil, err
	}
	return []*ir.Value{b.Node(Mul{}, b.Node(Sub{}, y, zero), scale)}, nil
}

// bitWidth returns the value of operand i, a number of bits from 1 to 64. It returns an error
// unless the operand is a constant in this range.
func bitWidth(c ir.Importer, i int) (float64, error) {
	t := c.Constant(i)
	if t == nil || t.Len() != 1 || t.DType == ir.String {
		return 0, fmt.Errorf("the number of bits is not constant")
	}
	if bits := t.Number(0); bits >= 1 && bits <= 64 {
		return bits, nil
	}
	return 0, fmt.Errorf("%v bits", t.Number(0))
}

// rounded appends x rounded to integers. mode is a rounding mode of Brevitas, such as "ROUND" or
// "FLOOR". rounded returns an error for another mode.
func rounded(b *ir.Builder, x *ir.Value, mode string) (*ir.Value, error) {
	magnitude := func(f func(*ir.Value) *ir.Value) *ir.Value {
		return b.Node(Mul{}, b.Node(Sign{}, x), f(b.Node(Abs{}, x)))
	}
	half := b.Scalar(x.Type.DType, 0.5)
	switch mode {
	case "ROUND", "HALF_EVEN":
		return b.Node(Round{}, x), nil
	case "CEIL":
		return b.Node(Ceil{}, x), nil
	case "FLOOR":
		return b.Node(Floor{}, x), nil
	case "ROUND_TO_ZERO", "DOWN":
		return magnitude(func(v *ir.Value) *ir.Value { return b.Node(Floor{}, v) }), nil
	case "UP":
		return magnitude(func(v *ir.Value) *ir.Value { return b.Node(Ceil{}, v) }), nil
	case "HALF_UP":
		return magnitude(func(v *ir.Value) *ir.Value { return b.Node(Floor{}, b.Node(Add{}, v, half)) }), nil
	case "HALF_DOWN":
		return magnitude(func(v *ir.Value) *ir.Value { return b.Node(Ceil{}, b.Node(Sub{}, v, half)) }), nil
	}
	return nil, fmt.Errorf("unknown rounding_mode %q", mode)
}
