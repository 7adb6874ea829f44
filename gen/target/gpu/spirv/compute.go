package spirv

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// forms holds the instructions of an operation on floats, signed and unsigned integers, and bools. An
// instruction is 0 if the operation does not have the type, or takes several instructions.
type forms struct{ float, signed, unsigned, logical uint32 }

func (i forms) on(d ir.DType) uint32 {
	switch d.Class() {
	case ir.Float:
		return i.float
	case ir.Signed:
		return i.signed
	case ir.Unsigned:
		return i.unsigned
	}
	return i.logical
}

var arithmetic = map[kernel.Op]forms{
	kernel.Add: {opFAdd, opIAdd, opIAdd, 0},
	kernel.Sub: {opFSub, opISub, opISub, 0},
	kernel.Mul: {opFMul, opIMul, opIMul, 0},
	kernel.Div: {opFDiv, 0, opUDiv, 0},
	kernel.Rem: {0, 0, opUMod, 0},
	kernel.And: {0, opBitwiseAnd, opBitwiseAnd, opLogicalAnd},
	kernel.Or:  {0, opBitwiseOr, opBitwiseOr, opLogicalOr},
	kernel.Xor: {0, opBitwiseXor, opBitwiseXor, opLogicalNotEqual},
	kernel.Shl: {0, opShiftLeftLogical, opShiftLeftLogical, 0},
	kernel.Shr: {0, opShiftRightArithmetic, opShiftRightLogical, 0},
	kernel.Neg: {opFNegate, opSNegate, opSNegate, 0},
	kernel.Not: {0, opNot, opNot, opLogicalNot},
}

var comparisons = map[kernel.Op]forms{
	kernel.Eq: {opFOrdEqual, opIEqual, opIEqual, opLogicalEqual},
	kernel.Ne: {opFUnordNotEqual, opINotEqual, opINotEqual, opLogicalNotEqual},
	kernel.Lt: {opFOrdLessThan, opSLessThan, opULessThan, 0},
	kernel.Le: {opFOrdLessThanEqual, opSLessThanEqual, opULessThanEqual, 0},
	kernel.Gt: {opFOrdGreaterThan, opSGreaterThan, opUGreaterThan, 0},
	kernel.Ge: {opFOrdGreaterThanEqual, opSGreaterThanEqual, opUGreaterThanEqual, 0},
}

var library = map[kernel.Op]uint32{
	kernel.Abs:   glslFAbs,
	kernel.Sqrt:  glslSqrt,
	kernel.Floor: glslFloor,
	kernel.Ceil:  glslCeil,
	kernel.Trunc: glslTrunc,
	kernel.Round: glslRoundEven,
	kernel.Fma:   glslFma,
}

func (f *function) compute(in *kernel.Instr) uint32 {
	d := in.Args[0].Type.DType
	if !kernel.IsArithmetic(d) {
		fail("%s of %s", in.Op, d)
	}
	if d.IsFloat() {
		f.floats(d)
	}
	x := f.all(in.Args)
	if op := arithmetic[in.Op].on(d); op != 0 {
		return f.exact(op, d, x...)
	}
	if comparisons[in.Op].on(d) != 0 {
		return f.compare(in.Op, d, x[0], x[1])
	}
	if (in.Op == kernel.Round || in.Op == kernel.Trunc) && d == ir.F64 {
		return f.whole(in.Op, x[0])
	}
	if g, ok := library[in.Op]; ok && d.IsFloat() {
		return f.call(g, d, x...)
	}
	switch in.Op {
	case kernel.Min:
		return f.choose(d, f.compare(kernel.Lt, d, x[0], x[1]), x[0], x[1])
	case kernel.Max:
		return f.choose(d, f.compare(kernel.Gt, d, x[0], x[1]), x[0], x[1])
	case kernel.Div:
		return f.quotient(d, x[0], x[1], in.Args[1])
	case kernel.Rem:
		return f.remainder(d, x[0], x[1], in.Args[1])
	case kernel.Abs:
		return f.magnitude(d, x[0])
	}
	fail("%s of %s", in.Op, d)
	return 0
}

// exact appends arithmetic whose result is in the type of the operands. The device must not fuse it
// with other arithmetic.
func (f *function) exact(op uint32, d ir.DType, x ...uint32) uint32 {
	id := f.value(op, f.register(d), x...)
	if d.IsFloat() {
		f.decorate(id, decorationNoContraction)
	}
	return id
}

func (f *function) compare(op kernel.Op, d ir.DType, x, y uint32) uint32 {
	return f.value(comparisons[op].on(d), f.register(ir.Bool), x, y)
}

func (f *function) choose(d ir.DType, cond, x, y uint32) uint32 {
	return f.value(opSelect, f.register(d), cond, x, y)
}

func (f *function) call(number uint32, d ir.DType, x ...uint32) uint32 {
	return f.value(opExtInst, f.register(d), append([]uint32{f.extended(), number}, x...)...)
}

// whole rounds an f64 to a whole number: towards 0 if op is Trunc, and otherwise to nearest, ties to even. It adds
// 2⁵² and subtracts it again: the sum has no bits for a fraction, so the addition rounds to nearest. The
// instructions RoundEven and Trunc are not used, because some drivers compute them wrongly. The result has the sign
// of x, also if it is 0.
func (f *function) whole(op kernel.Op, x uint32) uint32 {
	const sign = 1 << 63
	d, bits := ir.F64, ir.U64
	two52 := f.constant(d, math.Float64bits(1<<52))
	size := f.call(glslFAbs, d, x)
	rounded := f.exact(opFSub, d, f.exact(opFAdd, d, size, two52), two52)
	if op == kernel.Trunc {
		less := f.exact(opFSub, d, rounded, f.constant(d, math.Float64bits(1)))
		rounded = f.choose(d, f.compare(kernel.Gt, d, rounded, size), less, rounded)
	}
	negative := f.value(opBitwiseAnd, f.register(bits), f.value(opBitcast, f.register(bits), x), f.constant(bits, sign))
	signed := f.value(opBitcast, f.register(d), f.value(opBitwiseOr, f.register(bits), f.value(opBitcast, f.register(bits), rounded), negative))
	return f.choose(d, f.compare(kernel.Lt, d, size, two52), signed, x)
}

// quotient returns the quotient x/y of signed integers, rounded towards 0. divisor is the value whose id is y. If y
// is −1, the result is −x; for the smallest integer, −x wraps and is x again. SPIR-V does not define the quotient
// of the smallest integer and −1.
func (f *function) quotient(d ir.DType, x, y uint32, divisor *kernel.Value) uint32 {
	minusOne := uint64(1)<<d.Bits() - 1
	if bits, ok := divisor.Const(); ok && bits != minusOne {
		return f.exact(opSDiv, d, x, y)
	}
	isMinusOne := f.compare(kernel.Eq, d, y, f.constant(d, minusOne))
	q := f.exact(opSDiv, d, x, f.choose(d, isMinusOne, f.constant(d, 1), y))
	return f.choose(d, isMinusOne, f.exact(opSNegate, d, x), q)
}

// remainder returns x − x/y·y of signed integers. Vulkan does not define OpSRem for negative
// operands.
func (f *function) remainder(d ir.DType, x, y uint32, divisor *kernel.Value) uint32 {
	q := f.quotient(d, x, y, divisor)
	return f.exact(opISub, d, x, f.exact(opIMul, d, q, y))
}

func (f *function) magnitude(d ir.DType, x uint32) uint32 {
	if d.Class() == ir.Unsigned {
		return x
	}
	return f.choose(d, f.compare(kernel.Lt, d, x, f.constant(d, 0)), f.exact(opSNegate, d, x), x)
}
