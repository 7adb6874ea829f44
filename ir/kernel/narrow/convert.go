package narrow

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

func (n *narrowing) toPair(to, d ir.DType, x *kernel.Value) pair {
	d, x = n.arithmetic(d, x)
	switch {
	case d.IsFloat():
		return n.truncate(to, d, x)
	case d.Class() == ir.Signed:
		return pair{n.Bitcast(ir.U32, x), n.Bitcast(ir.U32, n.Binary(kernel.Shr, x, n.Int(31)))}
	}
	return pair{n.Convert(ir.U32, x), n.word(0)}
}

func (n *narrowing) arithmetic(d ir.DType, x *kernel.Value) (ir.DType, *kernel.Value) {
	to := kernel.Arithmetic(d)
	return to, n.Convert(to, x)
}

// truncate converts a float of type d to an integer of type `to`, as [kernel.Convert] does. It computes the two
// halves of the absolute value as floats, which hold them exactly.
func (n *narrowing) truncate(to, d ir.DType, x *kernel.Value) pair {
	float := func(x float64) *kernel.Value { return n.Float(d, x) }
	limit, least, most := math.Ldexp(1, 64), uint64(0), uint64(math.MaxUint64)
	if to == ir.I64 {
		limit, least, most = limit/2, 1<<63, 1<<63-1
	}
	isPast, isBelow := n.Ge(x, float(limit)), n.Le(x, float(0))
	if to == ir.I64 {
		isBelow = n.Le(x, float(-limit))
	}
	inside := n.And(n.Not(isBelow), n.Lt(x, float(limit)))
	size := n.Unary(kernel.Trunc, n.Abs(n.Select(inside, x, float(0))))
	high := n.Unary(kernel.Floor, n.Mul(size, float(0x1p-32)))
	low := n.Sub(size, n.Mul(high, float(0x1p32)))
	r := pair{n.Convert(ir.U32, low), n.Convert(ir.U32, high)}
	if to == ir.I64 {
		r = n.choose(n.Lt(x, float(0)), n.negate(r), r)
	}
	bits := func(x uint64) pair { return pair{n.word(uint32(x)), n.word(uint32(x >> 32))} }
	return n.choose(isPast, bits(most), n.choose(isBelow, bits(least), r))
}

// fromPair converts x, of type d, to the type `to`. It returns two values if `to` has 64 bits and is an integer
// type, and otherwise one.
func (n *narrowing) fromPair(to, d ir.DType, x pair) []*kernel.Value {
	switch to {
	case ir.I64, ir.U64:
		return x.halves()
	case ir.Bool:
		return []*kernel.Value{n.Ne(n.Or(x.low, x.high), n.word(0))}
	case ir.F64:
		high := n.Bitcast(ir.U32, x.high)
		if d == ir.I64 {
			high = n.Bitcast(ir.I32, x.high)
		}
		return []*kernel.Value{n.Add(n.Mul(n.Convert(to, high), n.Float(to, 0x1p32)), n.Convert(to, x.low))}
	case ir.F16:
		return []*kernel.Value{n.toHalf(d, x)}
	case ir.F32, ir.BF16:
		return []*kernel.Value{n.toFloat(to, d, x)}
	}
	return []*kernel.Value{n.Convert(to, x.low)} // integers wrap
}

// toHalf converts x, of type d, to an f16. It first clamps an integer that does not fit 32 bits to the greatest or
// the smallest integer of 32 bits. This does not change the result: both the integer and the clamped one become
// infinite.
func (n *narrowing) toHalf(d ir.DType, x pair) *kernel.Value {
	if d == ir.U64 {
		return n.Convert(ir.F16, n.Select(n.Eq(x.high, n.word(0)), x.low, n.word(math.MaxUint32)))
	}
	low := n.Bitcast(ir.I32, x.low)
	fits := n.Eq(n.Bitcast(ir.I32, x.high), n.Binary(kernel.Shr, low, n.Int(31)))
	past := n.Select(n.isNegative(d, x), n.Int(math.MinInt32), n.Int(math.MaxInt32))
	return n.Convert(ir.F16, n.Select(fits, low, past))
}

// toFloat converts x, of type d, to an f32 or bf16, rounded once. If the absolute value has more than 32 bits,
// toFloat drops low bits of it and keeps at least 31. It sets the last kept bit if a dropped bit is 1, so that the
// result is rounded as x would be.
func (n *narrowing) toFloat(to, d ir.DType, x pair) *kernel.Value {
	size := n.unary(kernel.Abs, d, x)
	isShort := n.Eq(size.high, n.word(0))
	// The exponent of the high half, which the conversion may have rounded up, is the number of bits to drop,
	// less 1 or 0.
	high := n.Select(isShort, n.word(1), size.high)
	exponent := n.Sub(n.Binary(kernel.Shr, n.Bitcast(ir.U32, n.Convert(ir.F32, high)), n.word(23)), n.word(127))
	drop := n.Min(exponent, n.word(31)) // one bit more is dropped
	upper := n.Or(n.Binary(kernel.Shl, size.high, n.Sub(n.word(31), drop)),
		n.Binary(kernel.Shr, n.Binary(kernel.Shr, size.low, n.word(1)), drop))
	dropped := n.And(size.low, n.Sub(n.Binary(kernel.Shl, n.word(2), drop), n.word(1)))
	upper = n.Or(upper, n.one(n.Ne(dropped, n.word(0))))
	upper = n.Select(isShort, size.low, upper)
	if to == ir.BF16 {
		upper = n.oddWord(upper)
	}
	scale := n.Bitcast(ir.F32, n.Binary(kernel.Shl, n.Add(drop, n.word(128)), n.word(23)))
	r := n.Mul(n.Convert(ir.F32, upper), n.Select(isShort, n.Float(ir.F32, 1), scale))
	return n.Convert(to, n.Select(n.isNegative(d, x), n.Neg(r), r))
}

// oddWord drops the low 8 bits of a u32 of 2²⁴ or more. It sets the lowest bit that is left if a dropped bit is 1.
// The result is exact in an f32, and rounds to the same bf16 as x. A smaller x is returned unchanged.
func (n *narrowing) oddWord(x *kernel.Value) *kernel.Value {
	low := n.And(x, n.word(0xff))
	odd := n.Or(n.Sub(x, low), n.Select(n.Ne(low, n.word(0)), n.word(0x100), n.word(0)))
	return n.Select(n.Lt(x, n.word(1<<24)), x, odd)
}
