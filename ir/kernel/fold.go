package kernel

import (
	"math"
	"math/bits"

	"github.com/burngen/burngen/ir"
)

// simplify returns a value that equals the result of o on x and y and needs less computation: a constant, an
// operand, or the result of a cheaper operation. It returns nil if it finds no such value. It simplifies operations
// on floats only if both operands are constants.
func (b *Builder) simplify(o Op, x, y *Value) *Value {
	d := x.Type.DType
	p, isX := x.Const()
	q, isY := y.Const()
	if isX && isY {
		if v, ok := foldBinary(o, d, p, q); ok {
			if ops[o].kind == comparison {
				return b.bits(ir.Bool, v)
			}
			return b.bits(d, v)
		}
		return nil
	}
	if d == ir.I64 && (ops[o].kind == comparison || o == Min || o == Max) {
		if v := b.compareNarrow(o, x, y); v != nil {
			return v
		}
	}
	switch {
	case classOf(d) == ints:
		return b.simplifyInt(o, x, y, p, q, isX, isY)
	case classOf(d) == bools:
		return simplifyBool(o, x, y, p, q, isX, isY)
	}
	return nil
}

// compareNarrow computes a comparison, Min or Max of two i64 on two i32 instead. Each i64 must be a constant or a
// converted i32; otherwise compareNarrow returns nil. A constant that exceeds an i32 needs no comparison, because
// every i32 is on the same side of it.
//
// The reason is Mesa 22: it computes a comparison of two i64 wrongly if one is a converted i32 and the other a
// constant.
func (b *Builder) compareNarrow(o Op, x, y *Value) *Value {
	narrowX, constX := b.narrow(x)
	narrowY, constY := b.narrow(y)
	switch {
	case narrowX != nil && narrowY != nil && ops[o].kind == comparison:
		return b.Binary(o, narrowX, narrowY)
	case narrowX != nil && narrowY != nil:
		return b.Convert(ir.I64, b.Binary(o, narrowX, narrowY))
	case narrowX != nil && constY:
		return asBeside(x, b.simplify(o, b.bits(ir.I64, 0), y))
	case narrowY != nil && constX:
		return asBeside(y, b.simplify(o, x, b.bits(ir.I64, 0)))
	}
	return nil
}

// asBeside returns the result of a comparison, Min or Max of x and a constant c that exceeds an i32. x is a converted
// i32, so x and 0 are on the same side of c. zero is the result of the same operation on 0 and c. For example, Min(0,
// 2⁴⁰) = 0, so Min(x, 2⁴⁰) = x. Max(0, 2⁴⁰) = 2⁴⁰, so Max(x, 2⁴⁰) = 2⁴⁰.
func asBeside(x, zero *Value) *Value {
	if bits, _ := zero.Const(); bits == 0 && zero.Type.DType == ir.I64 {
		return x
	}
	return zero
}

// narrow returns an i32 that equals the i64 x, or nil if no such i32 is known. constant reports whether x is a
// constant.
func (b *Builder) narrow(x *Value) (narrow *Value, constant bool) {
	bits, ok := x.Const()
	switch {
	case ok && int64(bits) == int64(int32(bits)):
		return b.Convert(ir.I32, x), true
	case ok:
		return nil, true
	case x.Def != nil && x.Def.Op == Convert && x.Def.Args[0].Type.DType == ir.I32:
		return x.Def.Args[0], false
	}
	return nil, false
}

func (b *Builder) simplifyInt(o Op, x, y *Value, p, q uint64, isX, isY bool) *Value {
	d := x.Type.DType
	zeroX, zeroY := isX && p == 0, isY && q == 0
	oneX, oneY := isX && p == 1, isY && q == 1
	switch o {
	case Add:
		if zeroY {
			return x
		}
		if zeroX {
			return y
		}
	case Sub, Shl, Shr:
		if zeroY {
			return x
		}
	case Mul:
		switch {
		case oneY, zeroX:
			return x
		case oneX, zeroY:
			return y
		}
	case Div:
		switch {
		case oneY:
			return x
		case isY && d.Class() == ir.Unsigned && bits.OnesCount64(q) == 1:
			return b.Binary(Shr, x, b.bits(d, uint64(bits.TrailingZeros64(q))))
		}
	case Rem:
		switch {
		case oneY:
			return b.bits(d, 0)
		case isY && d.Class() == ir.Unsigned && bits.OnesCount64(q) == 1:
			return b.Binary(And, x, b.bits(d, q-1))
		}
	case And:
		if zeroX || zeroY {
			return b.bits(d, 0)
		}
	case Or, Xor:
		if zeroY {
			return x
		}
		if zeroX {
			return y
		}
	}
	return nil
}

func simplifyBool(o Op, x, y *Value, p, q uint64, isX, isY bool) *Value {
	if isX {
		x, y, p, q, isX, isY = y, x, q, p, isY, isX
	}
	switch {
	case isX || !isY:
		return nil
	case o == And && q == 1, o == Or && q == 0:
		return x
	case o == And && q == 0, o == Or && q == 1:
		return y
	}
	return nil
}

func foldBinary(o Op, d ir.DType, x, y uint64) (v uint64, ok bool) {
	if d.IsFloat() {
		return foldFloats(o, d, floatOf(d, x), floatOf(d, y))
	}
	p, q := wholeOf(d, x), wholeOf(d, y)
	less := p < q
	if d.Class() == ir.Unsigned {
		less = x < y
	}
	switch o {
	case Add:
		return mask(x+y, d), true
	case Sub:
		return mask(x-y, d), true
	case Mul:
		return mask(x*y, d), true
	case Div, Rem:
		if y == 0 {
			return 0, false
		}
		if d.Class() == ir.Unsigned {
			return pick(o == Div, x/y, x%y), true
		}
		if q == -1 { // the smallest number has no negative
			return pick(o == Div, mask(-x, d), 0), true
		}
		return mask(uint64(pick(o == Div, p/q, p%q)), d), true
	case Min:
		return pick(less, x, y), true
	case Max:
		return pick(less, y, x), true
	case And:
		return x & y, true
	case Or:
		return x | y, true
	case Xor:
		return x ^ y, true
	case Shl:
		return mask(x<<y, d), y < uint64(d.Bits())
	case Shr:
		if d.Class() == ir.Signed {
			return mask(uint64(p>>y), d), y < uint64(d.Bits())
		}
		return x >> y, y < uint64(d.Bits())
	case Eq:
		return truth(x == y), true
	case Ne:
		return truth(x != y), true
	case Lt:
		return truth(less), true
	case Le:
		return truth(less || x == y), true
	case Gt:
		return truth(!less && x != y), true
	case Ge:
		return truth(!less), true
	}
	return 0, false
}

func foldFloats(o Op, d ir.DType, x, y float64) (v uint64, ok bool) {
	switch o {
	case Add:
		return floatBits(d, x+y), true
	case Sub:
		return floatBits(d, x-y), true
	case Mul:
		return floatBits(d, x*y), true
	case Div:
		return floatBits(d, x/y), true
	case Min:
		return floatBits(d, pick(x < y, x, y)), true
	case Max:
		return floatBits(d, pick(x > y, x, y)), true
	case Eq:
		return truth(x == y), true
	case Ne:
		return truth(x != y), true
	case Lt:
		return truth(x < y), true
	case Le:
		return truth(x <= y), true
	case Gt:
		return truth(x > y), true
	case Ge:
		return truth(x >= y), true
	}
	return 0, false
}

func foldUnary(o Op, d ir.DType, x uint64) (v uint64, ok bool) {
	if !d.IsFloat() {
		switch n := wholeOf(d, x); {
		case o == Neg, o == Abs && n < 0 && d.Class() == ir.Signed:
			return mask(-x, d), true
		case o == Abs:
			return x, true
		case o == Not:
			return mask(^x, d), true
		}
		return 0, false
	}
	f := floatOf(d, x)
	switch o {
	case Neg:
		f = -f
	case Abs:
		f = math.Abs(f)
	case Sqrt:
		f = math.Sqrt(f)
	case Floor:
		f = math.Floor(f)
	case Ceil:
		f = math.Ceil(f)
	case Trunc:
		f = math.Trunc(f)
	case Round:
		f = math.RoundToEven(f)
	default:
		return 0, false
	}
	return floatBits(d, f), true
}

func convertBits(to, from ir.DType, bits uint64) uint64 {
	switch {
	case to == ir.Bool && from.IsFloat():
		return truth(floatOf(from, bits) != 0)
	case to == ir.Bool:
		return truth(bits != 0)
	case to.IsFloat() && from.IsFloat():
		return floatBits(to, floatOf(from, bits))
	case to.IsFloat() && (from.Class() == ir.Unsigned || from == ir.Bool):
		if to == ir.F32 {
			return uint64(math.Float32bits(float32(bits)))
		}
		return math.Float64bits(float64(bits))
	case to.IsFloat():
		if to == ir.F32 {
			return uint64(math.Float32bits(float32(wholeOf(from, bits))))
		}
		return math.Float64bits(float64(wholeOf(from, bits)))
	case from.IsFloat():
		return mask(truncate(to, floatOf(from, bits)), to)
	}
	return mask(uint64(wholeOf(from, bits)), to)
}

// truncate truncates x to an integer of type d, clamped to the range of d, and returns the bits of this integer.
// NaN becomes 0.
func truncate(d ir.DType, x float64) uint64 {
	x = math.Trunc(x)
	limit := math.Ldexp(1, d.Bits())
	if d.Class() == ir.Signed {
		limit /= 2
	}
	switch {
	case x != x:
		return 0
	case d.Class() == ir.Signed && x >= limit:
		return 1<<(d.Bits()-1) - 1
	case d.Class() == ir.Signed && x <= -limit:
		return 1 << (d.Bits() - 1)
	case d.Class() == ir.Signed:
		return uint64(int64(x))
	case x >= limit:
		return mask(math.MaxUint64, d)
	case x <= 0:
		return 0
	}
	return uint64(x)
}

func truth(x bool) uint64 { return pick[uint64](x, 1, 0) }

func pick[T any](first bool, x, y T) T {
	if first {
		return x
	}
	return y
}
