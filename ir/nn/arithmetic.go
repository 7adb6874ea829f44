package nn

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// Operand is a [Value], a [Dim], a Go number or a bool. A number gets the element type of the value that it is
// combined with. Values of different element types cannot be combined: convert one with Cast, Float or Int. Shapes
// broadcast.
type Operand = any

// operand returns o as a Value. Extents, numbers and bools get the element type of v. It panics
// with an [*Error] if o is a Value of another element type.
func (v Value) operand(o Operand) Value {
	d := v.DType()
	switch o := o.(type) {
	case Value:
		if w := o.typ(); w.DType != d {
			fail("%s with %s; convert with .Float(), .Int() or .Cast()", v.typ(), w)
		}
		return o
	case Dim:
		return extentValue(o).Cast(d)
	}
	return number(o, d)
}

func (v Value) with(op ir.Op, o Operand) Value { return one(op, v, v.operand(o)) }

// Add returns v + o.
func (v Value) Add(o Operand) Value { return v.with(op.Add{}, o) }

// Sub returns v − o.
func (v Value) Sub(o Operand) Value { return v.with(op.Sub{}, o) }

// SubFrom returns o − v.
func (v Value) SubFrom(o Operand) Value { return one(op.Sub{}, v.operand(o), v) }

// Mul returns v · o.
func (v Value) Mul(o Operand) Value { return v.with(op.Mul{}, o) }

// Div returns v / o. Integer quotients truncate toward zero. The model returns an error when it runs if o is an
// integer 0.
func (v Value) Div(o Operand) Value { return v.with(op.Div{}, o) }

// DivFrom returns o / v; see [Value.Div].
func (v Value) DivFrom(o Operand) Value { return one(op.Div{}, v.operand(o), v) }

// Rem returns the remainder of v / o, with the sign of o. The model returns an error when it runs if o is an
// integer 0.
func (v Value) Rem(o Operand) Value {
	w := v.operand(o)
	if !v.DType().IsFloat() {
		return one(op.Mod{}, v, w)
	}
	return v.Sub(v.Div(w).Floor().Mul(w))
}

// Fmod returns the remainder of v / o, with the sign of v. The model returns an error when it runs if o is an
// integer 0.
func (v Value) Fmod(o Operand) Value { return v.with(op.Mod{Truncated: true}, o) }

// Pow returns v to the power o.
func (v Value) Pow(o Operand) Value { return v.with(op.Pow{}, o) }

// Maximum returns the elementwise maximum of v and o. It is NaN where v or o is NaN.
func (v Value) Maximum(o Operand) Value { return v.with(op.Max{}, o) }

// Minimum returns the elementwise minimum of v and o. It is NaN where v or o is NaN.
func (v Value) Minimum(o Operand) Value { return v.with(op.Min{}, o) }

// Atan2 returns the angle of the point with x = o and y = v, in radians from −π to π. It is 0 at the origin.
func (v Value) Atan2(o Operand) Value {
	x := v.operand(o)
	a := v.Div(x).Atan()
	left := Where(v.Less(0), a.Sub(math.Pi), a.Add(math.Pi))
	up := Where(v.Less(0), FullLike(v, -math.Pi/2), Where(v.Greater(0), FullLike(v, math.Pi/2), ZerosLike(v)))
	return Where(x.Greater(0), a, Where(x.Less(0), left, up))
}

// Hypot returns √(v² + o²).
func (v Value) Hypot(o Operand) Value {
	w := v.operand(o)
	return v.Mul(v).Add(w.Mul(w)).Sqrt()
}

// Neg returns −v.
func (v Value) Neg() Value { return one(op.Neg{}, v) }

// Abs returns the absolute value |v|.
func (v Value) Abs() Value { return one(op.Abs{}, v) }

// Sign returns the sign of v: −1, 0 or 1. The sign of NaN is NaN.
func (v Value) Sign() Value { return one(op.Sign{}, v) }

// Square returns v².
func (v Value) Square() Value { return v.Mul(v) }

// Recip returns 1/v.
func (v Value) Recip() Value { return one(op.Reciprocal{}, v) }

// Sqrt returns √v.
func (v Value) Sqrt() Value { return one(op.Sqrt{}, v) }

// Rsqrt returns 1/√v.
func (v Value) Rsqrt() Value { return v.Sqrt().Recip() }

// Exp returns e^v.
func (v Value) Exp() Value { return one(op.Exp{}, v) }

// Log returns the natural logarithm of v.
func (v Value) Log() Value { return one(op.Log{}, v) }

// Log1p returns log(1 + v), accurate for small v. It computes u = 1 + v, rounded. The result is v if u = 1, and
// v·log(u)/(u − 1) otherwise (Kahan).
func (v Value) Log1p() Value {
	u := v.Add(1)
	exact := u.Equal(1)
	return Where(exact, v, v.Mul(u.Log()).Div(Where(exact, OnesLike(v), u.Sub(1))))
}

// Expm1 returns e^v − 1, accurate for small v. Where |v| < 1 it computes tanh(v/2)·(e^v + 1).
func (v Value) Expm1() Value {
	near := v.Abs().Less(1)
	small := Where(near, v, ZerosLike(v))
	return Where(near, small.Mul(0.5).Tanh().Mul(small.Exp().Add(1)), v.Exp().Sub(1))
}

// Log2 returns the logarithm of v to the base 2.
func (v Value) Log2() Value { return v.Log().Div(math.Ln2) }

// Log10 returns the logarithm of v to the base 10.
func (v Value) Log10() Value { return v.Log().Div(math.Ln10) }

// Erf returns the error function of v.
func (v Value) Erf() Value { return one(op.Erf{}, v) }

// Sin returns the sine of v, an angle in radians.
func (v Value) Sin() Value { return one(op.Sin{}, v) }

// Cos returns the cosine of v, an angle in radians.
func (v Value) Cos() Value { return one(op.Cos{}, v) }

// Tan returns the tangent of v, an angle in radians.
func (v Value) Tan() Value { return one(op.Tan{}, v) }

// Asin returns the arc sine of v, in radians.
func (v Value) Asin() Value { return one(op.Asin{}, v) }

// Acos returns the arc cosine of v, in radians.
func (v Value) Acos() Value { return one(op.Acos{}, v) }

// Atan returns the arc tangent of v, in radians.
func (v Value) Atan() Value { return one(op.Atan{}, v) }

// Sinh returns the hyperbolic sine of v.
func (v Value) Sinh() Value { return one(op.Sinh{}, v) }

// Cosh returns the hyperbolic cosine of v.
func (v Value) Cosh() Value { return one(op.Cosh{}, v) }

// Tanh returns the hyperbolic tangent of v.
func (v Value) Tanh() Value { return one(op.Tanh{}, v) }

// Asinh returns the inverse hyperbolic sine of v.
func (v Value) Asinh() Value { return one(op.Asinh{}, v) }

// Acosh returns the inverse hyperbolic cosine of v.
func (v Value) Acosh() Value { return one(op.Acosh{}, v) }

// Atanh returns the inverse hyperbolic tangent of v.
func (v Value) Atanh() Value { return one(op.Atanh{}, v) }

// Deg2Rad converts degrees to radians.
func (v Value) Deg2Rad() Value { return v.Mul(math.Pi / 180) }

// Rad2Deg converts radians to degrees.
func (v Value) Rad2Deg() Value { return v.Mul(180 / math.Pi) }

// Floor returns v rounded down.
func (v Value) Floor() Value { return one(op.Floor{}, v) }

// Ceil returns v rounded up.
func (v Value) Ceil() Value { return one(op.Ceil{}, v) }

// Round returns v rounded to the nearest integer, ties to even.
func (v Value) Round() Value { return one(op.Round{}, v) }

// Trunc returns v rounded toward zero.
func (v Value) Trunc() Value { return v.Abs().Floor().Mul(v.Sign()) }

// Clamp returns v clamped to [lo, hi]. NaN stays NaN. If lo exceeds hi, the result is hi.
func (v Value) Clamp(lo, hi float64) Value { return one(op.Clip{Lo: lo, Hi: hi}, v) }

// ClampMin returns max(v, lo). NaN stays NaN.
func (v Value) ClampMin(lo float64) Value { return v.Clamp(lo, math.Inf(1)) }

// ClampMax returns min(v, hi). NaN stays NaN.
func (v Value) ClampMax(hi float64) Value { return v.Clamp(math.Inf(-1), hi) }

// Cast converts v to element type d. Floats truncate to integers. Cast to bool is true for numbers other than 0.
// [op.Cast] says what NaN and numbers out of range become.
func (v Value) Cast(d DType) Value {
	if v.DType() == d {
		return v
	}
	return one(op.Cast{To: d}, v)
}

// Float converts v to f32.
func (v Value) Float() Value { return v.Cast(F32) }

// Int converts v to i64, as [Value.Cast] does: floats truncate.
func (v Value) Int() Value { return v.Cast(I64) }

// Bool returns true where v is not 0. NaN is not 0.
func (v Value) Bool() Value { return v.Cast(Bool) }

// BitAnd returns v & o for integers.
func (v Value) BitAnd(o Operand) Value { return v.with(op.BitwiseAnd{}, o) }

// BitOr returns v | o for integers.
func (v Value) BitOr(o Operand) Value { return v.with(op.BitwiseOr{}, o) }

// BitXor returns v ^ o for integers.
func (v Value) BitXor(o Operand) Value { return v.with(op.BitwiseXor{}, o) }

// BitNot returns ^v for integers.
func (v Value) BitNot() Value { return one(op.BitwiseNot{}, v) }

// ShiftLeft returns v << o for integers. A signed integer is shifted as the unsigned integer with
// the same bits. The result is 0 where o is at least the number of bits of the type.
func (v Value) ShiftLeft(o Operand) Value { return v.shift(true, o) }

// ShiftRight returns v >> o for integers. A negative integer is shifted as the unsigned integer
// with the same bits. The result is 0 where o is at least the number of bits of the type.
func (v Value) ShiftRight(o Operand) Value { return v.shift(false, o) }

var unsigned = map[DType]DType{I64: U64, I32: U32, I16: U16, I8: U8}

func (v Value) shift(left bool, o Operand) Value {
	w, d := v.operand(o), v.DType()
	if u, ok := unsigned[d]; ok {
		return one(op.BitShift{Left: left}, v.Cast(u), w.Cast(u)).Cast(d)
	}
	return one(op.BitShift{Left: left}, v, w)
}
