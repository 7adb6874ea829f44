package ptx

import (
	"fmt"
	"math"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

func space(p *kernel.Value) string {
	if p.Type.Space == kernel.Shared {
		return ".shared"
	}
	return ".global"
}

func memoryType(d ir.DType) string {
	switch d {
	case ir.Bool:
		return ".u8"
	case ir.F16, ir.BF16:
		return ".b16"
	case ir.I8, ir.U8, ir.I16, ir.U16:
		return fmt.Sprintf("%s%d", arithmeticType(d)[:2], d.Bits())
	}
	return arithmeticType(d)
}

// address returns the address of element i of p as an operand. If i is a constant whose offset in bytes
// fits 32 bits, the operand is the register of p and the offset. Otherwise it is a register that holds
// the address.
func (w *writer) address(p, i *kernel.Value) string {
	base, index := w.use(p).text, w.use(i)
	size := p.Type.DType.Size()
	if index.known {
		n := int64(index.bits)
		if i.Type.DType == ir.I32 {
			n = int64(int32(index.bits))
		}
		if n == 0 {
			return "[" + base + "]"
		}
		if limit := int64(math.MaxInt32 / size); -limit <= n && n <= limit {
			return fmt.Sprintf("[%s+%d]", base, n*int64(size))
		}
	}
	at := element{p, i}
	r, ok := w.addresses[at]
	if !ok {
		r = w.element(p, i, base, index.text, fmt.Sprint(size))
		w.addresses[at] = r
	}
	return "[" + r + "]"
}

// element writes the computation of the address of element i of p, and returns the register with the address. The
// operands base, index and size are the address of p, the index i, and the bytes of an element. Addresses of shared
// memory have 32 bits.
func (w *writer) element(p, i *kernel.Value, base, index, size string) string {
	name := "at_" + p.Name + "_" + i.Name
	if p.Type.Space == kernel.Global {
		r := w.register(".b64", name)
		op := "mad.wide.s32"
		if i.Type.DType == ir.I64 {
			op = "mad.lo.s64"
		}
		w.emit(op, r, index, size, base)
		return r
	}
	if i.Type.DType == ir.I64 {
		low := w.temp(".b32")
		w.emit("cvt.u32.u64", low, w.in(i))
		index = low
	}
	r := w.register(".b32", name)
	w.emit("mad.lo.s32", r, index, size, base)
	return r
}

// word is the size in bytes of the registers in which several narrow elements are moved.
const word = 4

// load writes a load. It does not go through the read-only cache, because the memory that one parameter
// points to may be written through another.
func (w *writer) load(in *kernel.Instr) {
	p := in.Args[0]
	d := p.Type.DType
	at := w.address(p, in.Args[1])
	op := "ld" + space(p)
	raw := make([]string, len(in.Results)) // elements as memory has them
	for j, r := range in.Results {
		if d == ir.Bool {
			raw[j] = w.temp(".b32")
		} else {
			raw[j] = w.define(r)
		}
	}
	if len(raw) > 4 {
		words := make([]string, len(raw)*d.Size()/word)
		for j := range words {
			words[j] = w.temp(".b32")
		}
		w.emit(op+fmt.Sprintf(".v%d.b32", len(words)), group(words), at)
		each := word / d.Size()
		for j, from := range words {
			w.unpack(raw[j*each:(j+1)*each], from, d)
		}
	} else {
		w.emit(op+vector(len(raw))+memoryType(d), group(raw), at)
	}
	if d == ir.Bool {
		for j, r := range in.Results {
			w.emit("setp.ne.s32", w.define(r), raw[j], "0")
		}
	}
}

func (w *writer) store(in *kernel.Instr) {
	p, values := in.Args[0], in.Args[2:]
	d := p.Type.DType
	raw := make([]string, len(values))
	for j, v := range values {
		raw[j] = w.in(v)
		if d == ir.Bool {
			cond := raw[j]
			raw[j] = w.temp(".b32")
			w.emit("selp.b32", raw[j], "1", "0", cond)
		}
	}
	at := w.address(p, in.Args[1])
	op := "st" + space(p)
	if len(raw) <= 4 {
		w.emit(op+vector(len(raw))+memoryType(d), at, group(raw))
		return
	}
	each := word / d.Size()
	words := make([]string, len(raw)/each)
	for j := range words {
		words[j] = w.pack(raw[j*each:(j+1)*each], d)
	}
	w.emit(op+fmt.Sprintf(".v%d.b32", len(words)), at, group(words))
}

func vector(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(".v%d", n)
}

func group(registers []string) string {
	if len(registers) == 1 {
		return registers[0]
	}
	return "{" + strings.Join(registers, ", ") + "}"
}

func (w *writer) unpack(to []string, from string, d ir.DType) {
	if registerType(d) == ".b16" {
		w.emit("mov.b32", group(to), from)
		return
	}
	op := "bfe.u32"
	if d.Class() == ir.Signed {
		op = "bfe.s32"
	}
	for j, r := range to {
		w.emit(op, r, from, fmt.Sprint(j*d.Bits()), fmt.Sprint(d.Bits()))
	}
}

func (w *writer) pack(from []string, d ir.DType) string {
	to := w.temp(".b32")
	if registerType(d) == ".b16" {
		w.emit("mov.b32", to, group(from))
		return to
	}
	low := from[0] // what it has above its own bits is overwritten
	for j, r := range from[1:] {
		w.emit("bfi.b32", to, r, low, fmt.Sprint((j+1)*d.Bits()), fmt.Sprint(d.Bits()))
		low = to
	}
	return to
}

var atomics = map[kernel.Op]string{
	kernel.AtomicAdd: "add", kernel.AtomicMin: "min", kernel.AtomicMax: "max", kernel.AtomicAnd: "and",
	kernel.AtomicOr: "or", kernel.AtomicXchg: "exch", kernel.AtomicCAS: "cas",
}

// atomic writes an atomic operation. The addition of 64 bits exists for unsigned integers only; it
// computes the same bits for signed ones.
func (w *writer) atomic(in *kernel.Instr) {
	p := in.Args[0]
	d := p.Type.DType
	typ := registerType(d)
	switch in.Op {
	case kernel.AtomicAdd:
		typ = ".u" + typ[2:]
	case kernel.AtomicMin, kernel.AtomicMax:
		typ = arithmeticType(d)
	}
	at := w.address(p, in.Args[1])
	operands := []string{"", at}
	for _, v := range in.Args[2:] {
		operands = append(operands, w.use(v).text)
	}
	operands[0] = w.define(in.Results[0])
	w.emit("atom"+space(p)+"."+atomics[in.Op]+typ, operands...)
}
