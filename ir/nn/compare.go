package nn

import (
	"math"

	"github.com/burngen/burngen/ir/op"
)

// Equal returns a bool tensor: v == o elementwise, with broadcasting.
func (v Value) Equal(o Operand) Value { return v.with(op.Equal{}, o) }

// NotEqual returns v != o elementwise.
func (v Value) NotEqual(o Operand) Value { return v.Equal(o).Not() }

// Greater returns v > o elementwise.
func (v Value) Greater(o Operand) Value { return v.with(op.Greater{}, o) }

// GreaterEqual returns v >= o elementwise.
func (v Value) GreaterEqual(o Operand) Value { return v.with(op.GreaterOrEqual{}, o) }

// Less returns v < o elementwise.
func (v Value) Less(o Operand) Value { return v.with(op.Less{}, o) }

// LessEqual returns v <= o elementwise.
func (v Value) LessEqual(o Operand) Value { return v.with(op.LessOrEqual{}, o) }

// And returns v && o elementwise.
func (v Value) And(o Operand) Value { return v.with(op.And{}, o) }

// Or returns v || o elementwise.
func (v Value) Or(o Operand) Value { return v.with(op.Or{}, o) }

// Xor returns v != o elementwise, for bools.
func (v Value) Xor(o Operand) Value { return v.with(op.Xor{}, o) }

// Not returns !v elementwise.
func (v Value) Not() Value { return one(op.Not{}, v) }

// IsNaN returns whether each element is NaN.
func (v Value) IsNaN() Value { return one(op.IsNaN{}, v) }

// IsInf returns whether each element is +Inf or −Inf.
func (v Value) IsInf() Value { return one(op.IsInf{Negative: true, Positive: true}, v) }

// IsFinite returns whether each element is neither NaN nor infinite.
func (v Value) IsFinite() Value { return v.IsNaN().Or(v.IsInf()).Not() }

// ContainsNaN returns whether at least one element is NaN.
func (v Value) ContainsNaN() Value { return v.IsNaN().Any() }

// IsClose returns whether |v − o| ≤ atol + rtol·|o|, for each element. Equal infinities are close, too.
func (v Value) IsClose(o Operand, rtol, atol float64) Value {
	w := v.operand(o)
	return v.Sub(w).Abs().LessEqual(w.Abs().Mul(rtol).Add(atol)).Or(v.Equal(w))
}

// AllClose returns whether all elements are close; see [Value.IsClose].
func (v Value) AllClose(o Operand, rtol, atol float64) Value { return v.IsClose(o, rtol, atol).All() }

// Where returns x where condition is true, and y elsewhere, with broadcasting. If one of x and y is a number, it
// gets the element type of the other. If both are numbers, they become f32.
func Where(condition Value, x, y Operand) Value {
	like, ok := x.(Value)
	if !ok {
		if like, ok = y.(Value); !ok {
			like = Scalar(0)
		}
	}
	return one(op.Where{}, condition, like.operand(x), like.operand(y))
}

// MaskWhere returns o where mask is true, else v.
func (v Value) MaskWhere(mask Value, o Operand) Value { return Where(mask, v.operand(o), v) }

// MaskFill returns x where mask is true, else v.
func (v Value) MaskFill(mask Value, x Operand) Value { return v.MaskWhere(mask, x) }

// Closeness compares v with o for debugging. It returns a text such as "1e-03: 100.00 %" for each power of ten t
// from 1 down to 10⁻⁹. The text gives the percentage of elements for which [Value.IsClose] with rtol = atol = t is
// true.
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
