package nn

import (
	"math"

	"github.com/burngen/burngen/ir/op"
)

// Equal tells where v equals o: a bool tensor, broadcast.
func (v Value) Equal(o Operand) Value { return v.with(op.Equal{}, o) }

// NotEqual tells where v does not equal o.
func (v Value) NotEqual(o Operand) Value { return v.Equal(o).Not() }

// Greater tells where v is greater than o.
func (v Value) Greater(o Operand) Value { return v.with(op.Greater{}, o) }

// GreaterEqual tells where v is at least o.
func (v Value) GreaterEqual(o Operand) Value { return v.with(op.GreaterOrEqual{}, o) }

// Less tells where v is less than o.
func (v Value) Less(o Operand) Value { return v.with(op.Less{}, o) }

// LessEqual tells where v is at most o.
func (v Value) LessEqual(o Operand) Value { return v.with(op.LessOrEqual{}, o) }

// And tells where v and o are both true.
func (v Value) And(o Operand) Value { return v.with(op.And{}, o) }

// Or tells where v or o is true.
func (v Value) Or(o Operand) Value { return v.with(op.Or{}, o) }

// Xor tells where one of v and o is true.
func (v Value) Xor(o Operand) Value { return v.with(op.Xor{}, o) }

// Not tells where v is false.
func (v Value) Not() Value { return one(op.Not{}, v) }

// IsNaN tells where v is not a number.
func (v Value) IsNaN() Value { return one(op.IsNaN{}, v) }

// IsInf tells where v is an infinity.
func (v Value) IsInf() Value { return one(op.IsInf{Negative: true, Positive: true}, v) }

// IsFinite tells where v is a number, and no infinity.
func (v Value) IsFinite() Value { return v.Abs().LessEqual(math.MaxFloat32) }

// ContainsNaN tells whether an element is not a number.
func (v Value) ContainsNaN() Value { return v.IsNaN().Any() }

// IsClose tells where |v − o| is at most atol + rtol·|o|.
func (v Value) IsClose(o Operand, rtol, atol float64) Value {
	w := v.operand(o)
	return v.Sub(w).Abs().LessEqual(w.Abs().Mul(rtol).Add(atol)).Or(v.Equal(w))
}

// AllClose tells whether all elements are close, see [Value.IsClose].
func (v Value) AllClose(o Operand, rtol, atol float64) Value { return v.IsClose(o, rtol, atol).All() }

// Where returns x where a condition holds, else y, broadcast. One of the two may be a
// number.
func Where(condition Value, x, y Operand) Value {
	like, ok := x.(Value)
	if !ok {
		if like, ok = y.(Value); !ok {
			like = Scalar(0)
		}
	}
	return one(op.Where{}, condition, like.operand(x), like.operand(y))
}

// MaskWhere returns o where a mask is true, else v.
func (v Value) MaskWhere(mask Value, o Operand) Value { return Where(mask, v.operand(o), v) }

// MaskFill returns x where a mask is true, else v.
func (v Value) MaskFill(mask Value, x Operand) Value { return v.MaskWhere(mask, x) }

// Closeness tells for each of a ladder of tolerances, from 1 down to 10⁻⁹, what share
// of the elements of v is within it of o, as a percentage: "1e-03: 100.00 %".
func (v Value) Closeness(o Operand) []string {
	w := v.operand(o)
	var lines []string
	for e := 0; e >= -9; e-- {
		tolerance := math.Pow10(e)
		share := v.IsClose(w, tolerance, tolerance).Float().Mean().Item()
		lines = append(lines, percentage(tolerance, share))
	}
	return lines
}
