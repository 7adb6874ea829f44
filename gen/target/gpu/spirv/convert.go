package spirv

import (
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

func (f *function) bitcast(to, from ir.DType, x uint32) uint32 {
	if f.register(to) == f.register(from) {
		return x
	}
	return f.value(opBitcast, f.register(to), x)
}

// split returns the low and the high word of a value of 64 bits. The argument of an integer parameter is loaded as
// two words, so that the device does not need integers of 64 bits.
func (f *function) split(v *kernel.Value) []uint32 {
	var x uint32
	if v.Type.DType.IsInt() && slices.Contains(f.k.Params, v) {
		x = f.first(func() uint32 { return f.argument(v) })
	} else {
		x = f.value(opBitcast, f.halves(), f.of(v))
	}
	return f.components(f.integer(32), x, 2)
}

// convert writes a [kernel.Convert]. It converts between halves and floats without the instructions for halves.
// Some devices only store halves and have no such instructions. Other devices have
// them, but Vulkan does not specify how they round.
func (f *function) convert(to, from ir.DType, x uint32) uint32 {
	switch {
	case to == from:
		return x
	case to == ir.Bool:
		return f.truth(from, x)
	}
	d, x := f.widen(from, x)
	switch {
	case to == ir.F16:
		return f.half(f.odd(from, d, x))
	case to == ir.BF16:
		return f.brain(f.odd(from, d, x))
	case to == ir.F32 && from == ir.U32:
		return f.unsignedToFloat(x)
	case to.IsFloat():
		return f.toFloat(to, d, x)
	case d.IsFloat():
		return f.truncate(to, d, x)
	}
	return f.wrap(to, d, x)
}

func (f *function) bits(op uint32, x uint32, n uint32) uint32 {
	return f.value(op, f.integer(32), x, f.word(n))
}

func (f *function) below(x, n uint32) uint32 {
	return f.compare(kernel.Lt, ir.U32, x, f.word(n))
}

// truth appends a comparison and returns its result: whether the number x is not 0. It compares bits,
// because a device may flush denormal numbers to 0.
func (f *function) truth(d ir.DType, x uint32) uint32 {
	if d.IsFloat() {
		u := map[int]ir.DType{16: ir.U16, 32: ir.U32, 64: ir.U64}[d.Bits()]
		x = f.bitcast(u, d, x)
		d = u
		x = f.value(opBitwiseAnd, f.register(d), x, f.constant(d, 1<<(d.Bits()-1)-1))
	}
	return f.value(opINotEqual, f.register(ir.Bool), x, f.constant(d, 0))
}

// widen converts a number of a storage type, or a bool, to an arithmetic type that has all its values.
// It returns this type and the converted number.
func (f *function) widen(d ir.DType, x uint32) (ir.DType, uint32) {
	switch d {
	case ir.Bool:
		return ir.U32, f.choose(ir.U32, x, f.word(1), f.word(0))
	case ir.U8, ir.U16:
		return ir.U32, x
	case ir.I8, ir.I16:
		shift := uint32(32 - d.Bits())
		return ir.I32, f.bits(opShiftRightArithmetic, f.bits(opShiftLeftLogical, x, shift), shift)
	case ir.BF16:
		return ir.F32, f.bitcast(ir.F32, ir.U32, f.bits(opShiftLeftLogical, x, 16))
	case ir.F16:
		return ir.F32, f.single(x)
	}
	return d, x
}

func (f *function) single(x uint32) uint32 {
	const bias = (127 - 15) << 23
	a := f.bits(opBitwiseAnd, x, 0x7fff)
	up := f.bits(opShiftLeftLogical, a, 13)
	normal := f.bits(opIAdd, up, bias)
	// A subnormal is a whole number of 2⁻²⁴.
	f.floats(ir.F32)
	small := f.exact(opFMul, ir.F32, f.value(opConvertUToF, f.register(ir.F32), a), f.float(ir.F32, 0x1p-24))
	r := f.choose(ir.U32, f.below(a, 0x400), f.bitcast(ir.U32, ir.F32, small), normal)
	r = f.choose(ir.U32, f.below(a, 0x7c00), r, f.bits(opBitwiseOr, up, 0x7f800000))
	sign := f.bits(opShiftLeftLogical, f.bits(opBitwiseAnd, x, 0x8000), 16)
	return f.bitcast(ir.F32, ir.U32, f.value(opBitwiseOr, f.integer(32), r, sign))
}

// half rounds a float to a half, ties to even.
func (f *function) half(x uint32) uint32 {
	const bias = (127 - 15) << 23
	b := f.bitcast(ir.U32, ir.F32, x)
	a := f.bits(opBitwiseAnd, b, 0x7fffffff)
	isSmall := f.below(a, 0x38800000) // less than 2⁻¹⁴
	// A subnormal is a whole number of 2⁻²⁴.
	f.floats(ir.F32)
	scaled := f.exact(opFMul, ir.F32, f.bitcast(ir.F32, ir.U32, f.choose(ir.U32, isSmall, a, f.word(0))), f.float(ir.F32, 0x1p24))
	small := f.value(opConvertFToU, f.integer(32), f.call(glslRoundEven, ir.F32, scaled))
	r := f.choose(ir.U32, isSmall, small, f.round(f.bits(opISub, a, bias), 13))
	r = f.choose(ir.U32, f.below(a, 0x47800000), r, f.word(0x7c00)) // 2¹⁶
	nan := f.bits(opBitwiseOr, f.bits(opBitwiseAnd, f.bits(opShiftRightLogical, a, 13), 0x3ff), 0x7e00)
	r = f.choose(ir.U32, f.below(a, 0x7f800001), r, nan)
	sign := f.bits(opBitwiseAnd, f.bits(opShiftRightLogical, b, 16), 0x8000)
	return f.value(opBitwiseOr, f.integer(32), r, sign)
}

// brain rounds a float to a bfloat16, ties to even.
func (f *function) brain(x uint32) uint32 {
	b := f.bitcast(ir.U32, ir.F32, x)
	isNumber := f.below(f.bits(opBitwiseAnd, b, 0x7fffffff), 0x7f800001)
	nan := f.bits(opBitwiseOr, f.bits(opShiftRightLogical, b, 16), 0x40)
	return f.choose(ir.U32, isNumber, f.round(b, 16), nan)
}

// round drops the `low` lowest bits of a word and rounds the rest to nearest, ties to even.
func (f *function) round(x, low uint32) uint32 {
	odd := f.bits(opBitwiseAnd, f.bits(opShiftRightLogical, x, low), 1)
	up := f.value(opIAdd, f.integer(32), f.bits(opIAdd, x, 1<<(low-1)-1), odd)
	return f.bits(opShiftRightLogical, up, low)
}

// odd converts a number to a float, rounded to odd: the last bit is set if the conversion is inexact. Rounding the
// float to a half then equals rounding the number once. `from` is the type that x had before it was widened to d.
func (f *function) odd(from, d ir.DType, x uint32) uint32 {
	switch {
	case d == ir.F32:
		return x
	case d == ir.F64:
		return f.oddFloat(x)
	case from.Bits() <= 16:
		return f.toFloat(ir.F32, d, x)
	}
	return f.oddInt(d, x)
}

func (f *function) oddFloat(x uint32) uint32 {
	f.floats(ir.F64)
	single := f.toFloat(ir.F32, ir.F64, x)
	back := f.toFloat(ir.F64, ir.F32, single)
	b := f.bitcast(ir.U32, ir.F32, single)
	isPast := f.compare(kernel.Gt, ir.F64, f.call(glslFAbs, ir.F64, back), f.call(glslFAbs, ir.F64, x))
	towardZero := f.value(opISub, f.integer(32), b, f.choose(ir.U32, isPast, f.word(1), f.word(0)))
	isExact := f.compare(kernel.Eq, ir.F64, back, x)
	return f.bitcast(ir.F32, ir.U32, f.choose(ir.U32, isExact, b, f.bits(opBitwiseOr, towardZero, 1)))
}

// oddInt converts an integer to a float. Rounding this float to a half equals rounding the integer once, see
// [function.odd]. oddInt clears the low bits of a large integer, so that a float can hold the remaining bits. If a
// cleared bit was 1, it sets the lowest remaining bit.
func (f *function) oddInt(d ir.DType, x uint32) uint32 {
	u := ir.U32
	if d.Bits() == 64 {
		u = ir.U64
	}
	typ, a := f.register(d), f.magnitude(d, x)
	from := func(at, low uint64, otherwise uint32) uint32 { // the low bits of numbers of at and more
		isLess := f.compare(kernel.Lt, u, a, f.constant(u, at))
		return f.choose(u, isLess, otherwise, f.constant(u, 1<<low-1))
	}
	var low uint32
	if u == ir.U32 {
		low = from(1<<24, 8, f.constant(u, 0))
	} else {
		low = from(1<<50, 40, from(1<<37, 26, from(1<<24, 13, f.constant(u, 0))))
	}
	dropped := f.value(opBitwiseAnd, typ, a, low)
	isExact := f.compare(kernel.Eq, u, dropped, f.constant(u, 0))
	last := f.choose(u, isExact, f.constant(u, 0), f.value(opIAdd, typ, low, f.constant(u, 1)))
	kept := f.value(opBitwiseAnd, typ, a, f.value(opNot, typ, low))
	r := f.toFloat(ir.F32, u, f.value(opBitwiseOr, typ, kept, last))
	if d.Class() == ir.Unsigned {
		return r
	}
	isNegative := f.compare(kernel.Lt, d, x, f.constant(d, 0))
	return f.choose(ir.F32, isNegative, f.exact(opFNegate, ir.F32, r), r)
}

func (f *function) toFloat(to, d ir.DType, x uint32) uint32 {
	f.floats(to)
	switch {
	case to == d:
		return x
	case d.IsFloat():
		return f.value(opFConvert, f.register(to), x)
	case d.Class() == ir.Signed:
		return f.value(opConvertSToF, f.register(to), x)
	}
	return f.value(opConvertUToF, f.register(to), x)
}

// unsignedToFloat converts a word to a float. Some drivers convert the upper bit and the other bits separately, and
// round twice. So a word whose upper bit is set is halved before the conversion, and the result is doubled. If the
// halving drops a 1, the last bit of the halved word is set.
func (f *function) unsignedToFloat(x uint32) uint32 {
	isShort := f.below(x, 1<<31)
	half := f.value(opBitwiseOr, f.integer(32), f.bits(opShiftRightLogical, x, 1), f.bits(opBitwiseAnd, x, 1))
	r := f.toFloat(ir.F32, ir.I32, f.choose(ir.U32, isShort, x, half))
	return f.exact(opFMul, ir.F32, r, f.choose(ir.F32, isShort, f.float(ir.F32, 1), f.float(ir.F32, 2)))
}

// truncate converts a float to an integer. A float out of range becomes the nearest integer of the type, and NaN
// becomes 0. SPIR-V does not define the conversion of such floats. truncate therefore converts 0 instead of such a
// float, and then selects the right integer.
func (f *function) truncate(to, d ir.DType, x uint32) uint32 {
	f.floats(d)
	wide := ir.I32 // what is converted to
	if to.Bits() == 64 {
		wide = ir.I64
	}
	lo, hi, op := 0.0, math.Ldexp(1, to.Bits()), uint32(opConvertFToU)
	least, most := uint64(0), uint64(math.MaxUint64)>>(64-to.Bits())
	if to.Class() == ir.Signed {
		lo, hi, op = -hi/2, hi/2, opConvertFToS
		least, most = 1<<(to.Bits()-1), most>>1
	}
	notLess := f.compare(kernel.Ge, d, x, f.float(d, lo))
	isPast := f.compare(kernel.Ge, d, x, f.float(d, hi))
	isLess := f.compare(kernel.Lt, d, x, f.float(d, lo))
	inside := f.value(opLogicalAnd, f.register(ir.Bool), notLess, f.compare(kernel.Lt, d, x, f.float(d, hi)))
	r := f.value(op, f.register(wide), f.choose(d, inside, x, f.float(d, 0)))
	r = f.wrap(to, wide, r)
	r = f.choose(to, isPast, f.constant(to, most), r)
	if to.Class() == ir.Signed {
		r = f.choose(to, isLess, f.constant(to, least), r)
	}
	return r
}

func (f *function) float(d ir.DType, x float64) uint32 {
	if d == ir.F32 {
		return f.constant(d, uint64(math.Float32bits(float32(x))))
	}
	return f.constant(d, math.Float64bits(x))
}

// wrap converts x from the arithmetic integer type d to the integer type `to`. It keeps the low bits, or extends x
// to 64 bits.
func (f *function) wrap(to, d ir.DType, x uint32) uint32 {
	switch {
	case to.Bits() == d.Bits():
		return x
	case to.Bits() == 64 && d.Class() == ir.Signed:
		return f.value(opSConvert, f.integer(64), x)
	case to.Bits() == 64 || d.Bits() == 64:
		x = f.value(opUConvert, f.register(to), x)
	}
	if to.Bits() < 32 {
		x = f.bits(opBitwiseAnd, x, 1<<to.Bits()-1)
	}
	return x
}
