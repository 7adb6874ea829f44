package ptx

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

func (w *writer) convert(result, x *kernel.Value) {
	from, to := x.Type.DType, result.Type.DType
	switch {
	case from == ir.Bool:
		cond := w.in(x)
		w.emit("selp"+registerType(to), w.define(result), one(to), literal(to, 0), cond)
		return
	case from.IsInt() && to.IsInt():
		w.convertInt(result, x)
		return
	}
	in := w.in(x)
	if from == ir.F16 || from == ir.BF16 { // f32 has all their numbers
		if to == ir.F32 {
			w.widen(w.define(result), in, from)
			return
		}
		f := w.temp(".f32")
		w.widen(f, in, from)
		in, from = f, ir.F32
	}
	a := arithmeticType(from)
	switch {
	case to == ir.Bool && from.IsFloat():
		w.emit("setp.neu"+a, w.define(result), in, literal(from, 0))
	case to == ir.Bool:
		w.emit("setp.ne"+a, w.define(result), in, "0")
	case to == ir.F64 && from == ir.F32:
		w.emit("cvt.f64.f32", w.define(result), in)
	case to == ir.F32, to == ir.F64:
		w.emit("cvt.rn"+arithmeticType(to)+a, w.define(result), in)
	case to == ir.F16:
		w.emit("cvt.rn.f16"+a, w.define(result), in)
	case to == ir.BF16:
		if from != ir.F32 {
			in = w.roundToOdd(in, from)
		}
		w.emit("cvt.rn.bf16.f32", w.define(result), in)
	case from.IsFloat() && to.IsInt():
		w.truncate(result, in, from)
	default:
		w.fail("convert of %s to %s", from, to)
	}
}

func one(d ir.DType) string {
	switch d {
	case ir.F16:
		return literal(d, 0x3c00)
	case ir.BF16:
		return literal(d, 0x3f80)
	case ir.F32:
		return literal(d, 0x3f800000)
	case ir.F64:
		return literal(d, 0x3ff0000000000000)
	}
	return "1"
}

// widen writes the conversion of x, an f16 or bf16, to f32 in register r.
func (w *writer) widen(r, x string, from ir.DType) {
	if from == ir.F16 {
		w.emit("cvt.f32.f16", r, x)
		return
	}
	t := w.temp(".b32")
	w.emit("cvt.u32.u16", t, x)
	w.emit("shl.b32", t, t, "16")
	w.emit("mov.b32", r, t)
}

// roundToOdd writes the conversion of x to an f32, and returns the register of the f32. The conversion truncates. If
// it is inexact, it sets the last bit. Rounding the f32 to bf16 then gives the same result as rounding x itself.
func (w *writer) roundToOdd(x string, from ir.DType) string {
	typ := arithmeticType(from)
	f, back, bits, p := w.temp(".f32"), w.temp(registerType(from)), w.temp(".b32"), w.temp(".pred")
	w.emit("cvt.rz.f32"+typ, f, x)
	compare := "neu"
	if from.IsFloat() {
		w.emit("cvt.f64.f32", back, f)
	} else {
		w.emit("cvt.rzi"+typ+".f32", back, f)
		compare = "ne"
	}
	w.emit("setp."+compare+typ, p, back, x)
	w.emit("mov.b32", bits, f)
	w.emit("@"+p+" or.b32", bits, bits, "1")
	w.emit("mov.b32", f, bits)
	return f
}

// truncate writes the conversion of an f32 or f64 to an integer. A number out of range becomes the
// nearest integer of the type, and NaN becomes 0.
func (w *writer) truncate(result *kernel.Value, x string, from ir.DType) {
	to := result.Type.DType
	typ, reg := arithmeticType(to), registerType(to)
	op := "cvt.rzi" + typ + arithmeticType(from)
	narrow := to.Bits() < 32
	r := ""
	if narrow {
		r = w.temp(reg)
	} else {
		r = w.define(result)
	}
	w.emit(op, r, x)
	if from == ir.F64 || to.Bits() == 64 {
		p := w.temp(".pred")
		w.emit("setp.eq"+arithmeticType(from), p, x, x) // false of a NaN
		w.emit("selp"+reg, r, r, "0", p)
	}
	switch {
	case narrow && to.Class() == ir.Unsigned:
		w.emit("min.u32", w.define(result), r, fmt.Sprint(1<<to.Bits()-1))
	case narrow:
		w.emit("min.s32", r, r, fmt.Sprint(1<<(to.Bits()-1)-1))
		w.emit("max.s32", w.define(result), r, fmt.Sprint(-1<<(to.Bits()-1)))
	}
}

func (w *writer) convertInt(result, x *kernel.Value) {
	from, to := x.Type.DType, result.Type.DType
	switch {
	case to.Bits() == 64 && from.Bits() == 64, to.Bits() == 32 && from.Bits() <= 32:
		w.alias(result, w.cast(x, to))
	case to.Bits() == 64:
		in := w.in(x)
		w.emit("cvt"+map[bool]string{true: ".s64", false: ".u64"}[from.Class() == ir.Signed]+arithmeticType(from), w.define(result), in)
	case to.Bits() == 32:
		in := w.in(x)
		w.emit("cvt.u32.u64", w.define(result), in)
	default:
		in := w.in(x)
		if from.Bits() == 64 {
			t := w.temp(".b32")
			w.emit("cvt.u32.u64", t, in)
			in = t
		}
		w.extend(w.define(result), in, to)
	}
}

// cast returns x as an operand of the integer type `to`, whose registers have the same width as the registers of x.
// A literal of a narrower signed type is sign-extended to the bits of `to`.
func (w *writer) cast(x *kernel.Value, to ir.DType) operand {
	o := w.use(x)
	if !o.known {
		return o
	}
	if from := x.Type.DType; from.Class() == ir.Signed && from.Bits() < to.Bits() {
		shift := 64 - from.Bits()
		o.bits = uint64(int64(o.bits<<shift)>>shift) & (1<<to.Bits() - 1)
	}
	return constant(to, o.bits)
}

// extend writes the conversion of the low bits of register x to the integer type `to`, extended to 32
// bits in register r.
func (w *writer) extend(r, x string, to ir.DType) {
	if to.Class() == ir.Unsigned {
		w.emit("and.b32", r, x, fmt.Sprint(1<<to.Bits()-1))
		return
	}
	w.emit(fmt.Sprintf("cvt.s32.s%d", to.Bits()), r, x)
}

func (w *writer) bitcast(result, x *kernel.Value) {
	from, to := x.Type.DType, result.Type.DType
	a, b := registerType(from), registerType(to)
	switch {
	case from.Bits() == 16 && a != b: // one is a float, the other extended to 32 bits
		in := w.in(x)
		switch {
		case b == ".b16":
			w.emit("cvt.u16.u32", w.define(result), in)
		case to == ir.I16:
			w.emit("cvt.s32.s16", w.define(result), in)
		default:
			w.emit("cvt.u32.u16", w.define(result), in)
		}
	case from.IsInt() && from.Bits() < 32:
		in := w.in(x)
		w.extend(w.define(result), in, to)
	case a == b:
		w.alias(result, w.cast(x, to))
	default:
		in := w.in(x)
		w.emit(fmt.Sprintf("mov.b%d", from.Bits()), w.define(result), in)
	}
}

// join writes a [kernel.Join]. One instruction rounds two f32 and joins them.
func (w *writer) join(in *kernel.Instr) {
	x, y := in.Args[0], in.Args[1]
	low, high := rounded(x), rounded(y)
	if d := x.Type.DType; low != nil && high != nil && registerType(d) == ".b16" {
		a, b := w.in(low), w.in(high)
		w.emit("cvt.rn."+d.String()+"x2.f32", w.define(in.Results[0]), b, a)
		return
	}
	w.alias(in.Results[0], operand{text: w.pack([]string{w.in(x), w.in(y)}, x.Type.DType)})
}

// rounded returns the f32 that v is converted from, or nil.
func rounded(v *kernel.Value) *kernel.Value {
	if v.Def == nil || v.Def.Op != kernel.Convert || v.Def.Args[0].Type.DType != ir.F32 {
		return nil
	}
	return v.Def.Args[0]
}

func (w *writer) split(low, high, x *kernel.Value) {
	in := w.in(x)
	if x.Type.DType == ir.F64 {
		bits := w.temp(".b64")
		w.emit("mov.b64", bits, in)
		in = bits
	}
	w.emit("cvt.u32.u64", w.define(low), in)
	upper := w.temp(".b64")
	w.emit("shr.u64", upper, in, "32")
	w.emit("cvt.u32.u64", w.define(high), upper)
}
