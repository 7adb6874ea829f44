package ptx

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

func (w *writer) block(b *kernel.Block) {
	w.fenced = false
	for _, in := range b.Instrs {
		w.instr(in)
	}
	w.fenced = false
}

func (w *writer) instr(in *kernel.Instr) {
	switch in.Op {
	case kernel.Const:
		r := in.Results[0]
		w.alias(r, constant(r.Type.DType, in.Bits))
	case kernel.ThreadIdx:
		w.emit("mov.u32", w.define(in.Results[0]), "%tid."+axis(in.Dim))
	case kernel.BlockIdx:
		w.emit("mov.u32", w.define(in.Results[0]), "%ctaid."+axis(in.Dim))
	case kernel.Fma:
		x, y, z := w.use(in.Args[0]), w.use(in.Args[1]), w.use(in.Args[2])
		w.emit("fma.rn"+arithmeticType(in.Args[0].Type.DType), w.define(in.Results[0]), x.text, y.text, z.text)
	case kernel.Select:
		w.choose(in)
	case kernel.Convert:
		w.convert(in.Results[0], in.Args[0])
	case kernel.Bitcast:
		w.bitcast(in.Results[0], in.Args[0])
	case kernel.Split:
		w.split(in.Results[0], in.Results[1], in.Args[0])
	case kernel.Join:
		w.join(in)
	case kernel.Exp2:
		x := w.in(in.Args[0])
		w.emit("ex2.approx.ftz.f32", w.define(in.Results[0]), x)
	case kernel.Greater:
		x, y := w.use(in.Args[0]).text, w.use(in.Args[1]).text
		w.emit("max.f32", w.define(in.Results[0]), x, y)
	case kernel.Shuffle:
		x := w.in(in.Args[0])
		w.emit("shfl.sync.bfly.b32", w.define(in.Results[0]), x, fmt.Sprint(in.Count), "31", "-1")
	case kernel.Load:
		w.load(in)
	case kernel.Store:
		w.store(in)
	case kernel.MatMulAdd:
		w.multiply(in)
	case kernel.GroupIdx:
		w.group(in.Results[0])
	case kernel.GroupBarrier:
		w.groupBarrier()
	case kernel.Registers:
		w.registers(in.Count)
	case kernel.Arrive:
		w.arrive(in)
	case kernel.Await:
		w.await(in)
	case kernel.CopyBox:
		w.copyBox(in)
	case kernel.MultiplyTiles:
		w.multiplyTiles(in)
	case kernel.MultiplyHeld:
		w.multiplyHeld(in)
	case kernel.SetSum:
		w.emit("mov.f32", w.sums[in.Args[0]][in.Count], w.use(in.Args[1]).text)
		w.fenced = false
	case kernel.Commit:
		w.emit("wgmma.commit_group.sync.aligned")
		w.fenced = false
	case kernel.Drain:
		w.emit("wgmma.wait_group.sync.aligned", fmt.Sprint(in.Count))
	case kernel.Sum:
		w.emit("mov.f32", w.define(in.Results[0]), w.sums[in.Args[0]][in.Count])
	case kernel.Barrier:
		w.emit("bar.sync", "0")
	case kernel.For:
		w.count(in)
	case kernel.If:
		w.branch(in)
	case kernel.While:
		w.while(in)
	default:
		switch {
		case atomics[in.Op] != "":
			w.atomic(in)
		case len(in.Results) == 1 && len(in.Args) == 2:
			w.binary(in.Op, in.Results[0], in.Args[0], in.Args[1])
		case len(in.Results) == 1 && len(in.Args) == 1:
			w.unary(in.Op, in.Results[0], in.Args[0])
		default:
			w.fail("%s with %d operands", in.Op, len(in.Args))
		}
	}
}

func axis(dim int) string { return string("xyz"[dim]) }

var comparisons = map[kernel.Op]string{
	kernel.Eq: "eq", kernel.Ne: "ne", kernel.Lt: "lt", kernel.Le: "le", kernel.Gt: "gt", kernel.Ge: "ge",
}

func (w *writer) binary(o kernel.Op, result, a, b *kernel.Value) {
	d := a.Type.DType
	x, y := w.use(a).text, w.use(b).text
	switch compare := comparisons[o]; {
	case compare != "" && d == ir.Bool:
		w.compareBools(o, result, a, b)
		return
	case compare != "":
		if o == kernel.Ne && d.IsFloat() {
			compare = "neu" // true with a NaN
		}
		w.emit("setp."+compare+arithmeticType(d), w.define(result), x, y)
		return
	case d == ir.Bool:
		x, y = w.in(a), w.in(b)
	}
	typ, bits := arithmeticType(d), registerType(d)
	switch o {
	case kernel.Add, kernel.Sub:
		w.emit(o.String()+exact(d)+typ, w.define(result), x, y)
	case kernel.Mul:
		if d.IsFloat() {
			w.emit("mul.rn"+typ, w.define(result), x, y)
		} else {
			w.emit("mul.lo"+typ, w.define(result), x, y)
		}
	case kernel.Div:
		w.emit("div"+exact(d)+typ, w.define(result), x, y)
	case kernel.Rem:
		w.emit("rem"+typ, w.define(result), x, y)
	case kernel.Min, kernel.Max:
		if !d.IsFloat() {
			w.emit(o.String()+typ, w.define(result), x, y)
			return
		}
		p := w.temp(".pred")
		w.emit("setp."+map[kernel.Op]string{kernel.Min: "lt", kernel.Max: "gt"}[o]+typ, p, x, y)
		w.emit("selp"+typ, w.define(result), x, y, p)
	case kernel.And, kernel.Or, kernel.Xor:
		w.emit(o.String()+bits, w.define(result), x, y)
	case kernel.Shl:
		w.emit("shl"+bits, w.define(result), x, w.shift(b))
	case kernel.Shr:
		w.emit("shr"+typ, w.define(result), x, w.shift(b))
	default:
		w.fail("unknown operation %s on two operands", o)
	}
}

// exact returns a modifier that forbids the driver to fuse or to approximate a float operation. It returns "" for
// operations on integers.
func exact(d ir.DType) string {
	if d.IsFloat() {
		return ".rn"
	}
	return ""
}

// shift returns y, the number of bits to shift by, as an operand of 32 bits. All shifts take it in
// this form.
func (w *writer) shift(y *kernel.Value) string {
	o := w.use(y)
	switch {
	case o.known:
		return literal(ir.U32, o.bits&math.MaxUint32)
	case registerType(y.Type.DType) == ".b32":
		return o.text
	}
	r := w.temp(".b32")
	w.emit("cvt.u32.u64", r, o.text)
	return r
}

func (w *writer) compareBools(o kernel.Op, result, a, b *kernel.Value) {
	x, y := w.in(a), w.in(b)
	r := w.define(result)
	w.emit("xor.pred", r, x, y)
	if o == kernel.Eq {
		w.emit("not.pred", r, r)
	}
}

// roundings are the modes of conversions that round a float to a whole number of the same type.
var roundings = map[kernel.Op]string{kernel.Floor: ".rmi", kernel.Ceil: ".rpi", kernel.Trunc: ".rzi", kernel.Round: ".rni"}

func (w *writer) unary(o kernel.Op, result, a *kernel.Value) {
	d := a.Type.DType
	typ := arithmeticType(d)
	x := w.in(a)
	if mode := roundings[o]; mode != "" {
		w.emit("cvt"+mode+typ+typ, w.define(result), x)
		return
	}
	switch o {
	case kernel.Neg, kernel.Abs:
		if d.Class() == ir.Unsigned {
			if o == kernel.Abs {
				w.alias(result, w.use(a))
				return
			}
			typ = ".s" + typ[2:]
		}
		w.emit(o.String()+typ, w.define(result), x)
	case kernel.Not:
		w.emit("not"+registerType(d), w.define(result), x)
	case kernel.Sqrt:
		w.emit("sqrt.rn"+typ, w.define(result), x)
	default:
		w.fail("unknown operation %s on one operand", o)
	}
}

func (w *writer) choose(in *kernel.Instr) {
	d := in.Results[0].Type.DType
	cond, x, y := w.in(in.Args[0]), w.use(in.Args[1]).text, w.use(in.Args[2]).text
	r := w.define(in.Results[0])
	if d == ir.Bool {
		w.emit("mov.pred", r, y)
		w.emit("@"+cond+" mov.pred", r, x)
		return
	}
	w.emit("selp"+registerType(d), r, x, y, cond)
}
