package ptx

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

type writer struct {
	text      strings.Builder
	depth     int // how far lines are indented
	operands  map[*kernel.Value]operand
	symbols   map[*kernel.Value]string   // the names of parameters and arrays
	addresses map[element]string         // registers that hold addresses, in the current block and around it
	sums      map[*kernel.Value][]string // registers with the sums of a thread
	fenced    bool                       // whether the registers of sums are ready for the next product
	threads   int                        // of a block
	declared  map[string][]string
	taken     map[string]bool
	temps     map[string]int
	labels    int
	err       error // the first
}

type element struct{ array, index *kernel.Value }

// operand is a value as instructions use it: the name of a register, or a literal.
type operand struct {
	text  string
	bits  uint64
	known bool // whether the operand is a literal, with these bits
}

// registerTypes lists the types of registers, in the order in which a kernel declares them. The names of temporary
// registers begin with `temp`.
var registerTypes = []struct{ name, temp string }{
	{".pred", "%p"}, {".b16", "%h"}, {".b32", "%r"}, {".b64", "%rd"}, {".f32", "%f"}, {".f64", "%fd"},
}

// registerType returns the type of the registers that hold values of a type. Integers narrower than
// 32 bits are extended to 32 bits.
func registerType(d ir.DType) string {
	switch d {
	case ir.Bool:
		return ".pred"
	case ir.F16, ir.BF16:
		return ".b16"
	case ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32:
		return ".b32"
	case ir.I64, ir.U64:
		return ".b64"
	case ir.F32:
		return ".f32"
	case ir.F64:
		return ".f64"
	}
	return ""
}

func arithmeticType(d ir.DType) string {
	switch d {
	case ir.I8, ir.I16, ir.I32:
		return ".s32"
	case ir.U8, ir.U16, ir.U32:
		return ".u32"
	case ir.I64:
		return ".s64"
	case ir.U64:
		return ".u64"
	}
	return registerType(d)
}

// newWriter returns a writer for k. The writer has already written instructions that load values into registers: each
// parameter that k uses, and the address of each shared array that k uses. Names of parameters and arrays get
// prefixes, so that they differ from the words of PTX.
func newWriter(k *kernel.Kernel) *writer {
	w := &writer{
		threads: k.Block[0] * k.Block[1] * k.Block[2], sums: map[*kernel.Value][]string{},
		depth: 1, operands: map[*kernel.Value]operand{}, symbols: map[*kernel.Value]string{}, addresses: map[element]string{},
		declared: map[string][]string{}, taken: map[string]bool{}, temps: map[string]int{},
	}
	used := map[*kernel.Value]bool{}
	mark(k.Body, used)
	for _, p := range k.Params {
		w.symbols[p] = w.unique("p_" + symbol(p.Name))
		from := "[" + w.symbols[p] + "]"
		switch {
		case !used[p]:
		case p.Map != nil:
			r := w.register(".b64", "map_"+p.Name)
			w.emit("mov.b64", r, w.symbols[p])
			w.emit("cvta.param.u64", r, r)
			w.operands[p] = operand{text: r}
		case p.Type.Space == kernel.Global:
			r := w.register(".b64", "ptr_"+p.Name)
			w.emit("ld.param.u64", r, from)
			w.emit("cvta.to.global.u64", r, r)
			w.operands[p] = operand{text: r}
		default:
			w.emit("ld.param"+arithmeticType(p.Type.DType), w.define(p), from)
		}
	}
	if k.IsPipelined() {
		w.begin(k)
		return w
	}
	for _, s := range k.Shared {
		w.symbols[s] = w.unique("s_" + symbol(s.Name))
		if used[s] {
			r := w.register(".b32", "array_"+s.Name)
			w.emit("mov.u32", r, w.symbols[s])
			w.operands[s] = operand{text: r}
		}
	}
	return w
}

func mark(b *kernel.Block, used map[*kernel.Value]bool) {
	for _, v := range b.Yields {
		used[v] = true
	}
	for _, in := range b.Instrs {
		for _, v := range in.Args {
			used[v] = true
		}
		for _, inner := range in.Blocks {
			mark(inner, used)
		}
	}
}

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// emit writes an instruction. If an operand is the literal of a float, a comment has it in decimal.
func (w *writer) emit(op string, operands ...string) {
	line := op
	if len(operands) > 0 {
		line += " " + strings.Join(operands, ", ")
	}
	var floats []string
	for _, o := range operands {
		if f, ok := floatOf(o); ok {
			floats = append(floats, f)
		}
	}
	line += ";"
	if floats != nil {
		line += " // " + strings.Join(floats, ", ")
	}
	w.line(line)
}

func (w *writer) line(text string) {
	w.text.WriteString(strings.Repeat("\t", w.depth) + text + "\n")
}

func (w *writer) label(name string) { w.line(name + ":") }

func (w *writer) newLabel(what string) string {
	w.labels++
	return "$" + what + "_" + strconv.Itoa(w.labels)
}

func (w *writer) register(typ, name string) string {
	name = w.unique("%" + symbol(name))
	w.declared[typ] = append(w.declared[typ], name)
	return name
}

func (w *writer) unique(name string) string {
	hint := name
	for i := 2; w.taken[name]; i++ {
		name = hint + "_" + strconv.Itoa(i)
	}
	w.taken[name] = true
	return name
}

func (w *writer) temp(typ string) string {
	for _, r := range registerTypes {
		if r.name == typ {
			w.temps[typ]++
			return r.temp + strconv.Itoa(w.temps[typ])
		}
	}
	w.fail("no register has the type %q", typ)
	return ""
}

// define declares the register of a value and returns its name. Each copy of an unrolled body gets
// a new one.
func (w *writer) define(v *kernel.Value) string {
	d := v.Type.DType
	typ := registerType(d)
	if typ == "" || v.Type.Space != kernel.NoSpace {
		w.fail("value %s: a register cannot hold %s", v.Name, v.Type)
	}
	r := w.register(typ, d.String()+"_"+v.Name)
	w.operands[v] = operand{text: r}
	return r
}

func (w *writer) alias(v *kernel.Value, o operand) { w.operands[v] = o }

func (w *writer) use(v *kernel.Value) operand {
	o, ok := w.operands[v]
	if !ok {
		w.fail("value %s is used before it is computed", v.Name)
	}
	return o
}

// in returns a register that holds a value. It moves a literal into one.
func (w *writer) in(v *kernel.Value) string {
	o := w.use(v)
	if !o.known {
		return o.text
	}
	r := w.temp(registerType(v.Type.DType))
	w.emit("mov"+registerType(v.Type.DType), r, o.text)
	return r
}

func constant(d ir.DType, bits uint64) operand {
	return operand{literal(d, bits), bits, true}
}

func literal(d ir.DType, bits uint64) string {
	switch d {
	case ir.F32:
		return fmt.Sprintf("0f%08X", bits)
	case ir.F64:
		return fmt.Sprintf("0d%016X", bits)
	case ir.F16, ir.BF16:
		return fmt.Sprintf("0x%04X", bits)
	}
	if d.Class() == ir.Signed {
		shift := 64 - d.Bits()
		return strconv.FormatInt(int64(bits<<shift)>>shift, 10)
	}
	return strconv.FormatUint(bits, 10)
}

// floatOf returns the number, in decimal, that text denotes as a PTX literal of an f32 or f64. It
// returns false for other texts.
func floatOf(text string) (string, bool) {
	switch {
	case strings.HasPrefix(text, "0f"):
		bits, err := strconv.ParseUint(text[2:], 16, 32)
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(bits))), 'g', -1, 32), err == nil
	case strings.HasPrefix(text, "0d"):
		bits, err := strconv.ParseUint(text[2:], 16, 64)
		return strconv.FormatFloat(math.Float64frombits(bits), 'g', -1, 64), err == nil
	}
	return "", false
}

func (w *writer) declarations() string {
	const width = 100
	var text strings.Builder
	for _, r := range registerTypes {
		names := w.declared[r.name]
		for len(names) > 0 {
			line := "\t.reg " + r.name + " " + names[0]
			for names = names[1:]; len(names) > 0 && len(line)+len(names[0]) < width; names = names[1:] {
				line += ", " + names[0]
			}
			text.WriteString(line + ";\n")
		}
		if n := w.temps[r.name]; n > 0 {
			fmt.Fprintf(&text, "\t.reg %s %s<%d>;\n", r.name, r.temp, n+1)
		}
	}
	return text.String()
}

// scoped writes a nested block with the instructions that the function `body` writes. Addresses that are computed in
// the block are not used after it.
func (w *writer) scoped(body func()) {
	outer := maps.Clone(w.addresses)
	body()
	w.addresses = outer
}

func (w *writer) nested(body func()) {
	w.depth++
	w.scoped(body)
	w.depth--
}
