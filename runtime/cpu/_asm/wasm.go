package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kernels are written once, with the instructions of amd64 with AVX2. For WebAssembly, each instruction
// is translated to instructions on the locals of a function. A general register, and a slot of the stack
// frame, is a local of type i32, because addresses have 32 bits; the lower halves of integers in memory
// are read. A vector register is a local of type v128. There is no fused multiply-add: products are
// rounded, as in plain Go.
var simd128 = isa{name: "SIMD128", reg: v, regs: 16, bytes: 16, rows: 2, panels: 1, clear: "VXORPS", perTile: 4, flight: 4}

// kernelModule collects the functions of the module of kernels.
type kernelModule struct {
	functions []*wasmFunction
	fields    *fields
}

// wasmFunction is a kernel that is translated when all instructions and tables of its family are known.
type wasmFunction struct {
	name           string
	params         []string // names
	types, results []byte
	steps          []wasmStep
	code           []byte
	locals         []byte
}

// wasmStep is an instruction of amd64, or a label.
type wasmStep struct {
	name     string // empty for a label
	operands []any
	label    string
}

// importFrom is the name of the module of kernels as Go imports it, and importMemory the name of the
// program whose memory the kernels use.
const (
	importFrom   = "kernels"
	importMemory = "go"
)

// mostParameters is the largest number of parameters that hosts pass on.
const mostParameters = 9

// startWasm starts a function, and declares it in Go: an imported function, whose parameters have types that
// imported functions may have, and a Go function that calls it.
func (f *file) startWasm(doc, name, params, results string) {
	w := &wasmFunction{name: strings.TrimSuffix(name, simd128.name)}
	var declared, passed []string
	for _, p := range parameters(params) {
		typ, conversion, of := "int32", "int32(%s)", byte(i32)
		switch {
		case p.typ == "float32":
			typ, conversion, of = "float32", "%s", f32
		case p.typ[0] == '*' || p.typ == "unsafe.Pointer":
			typ, conversion = "unsafe.Pointer", "unsafe.Pointer(%s)"
		}
		w.params, w.types = append(w.params, p.name), append(w.types, of)
		declared, passed = append(declared, p.name+" "+typ), append(passed, fmt.Sprintf(conversion, p.name))
	}
	if len(w.params) > mostParameters {
		panic(name + " has too many parameters")
	}
	result, give := "", ""
	for _, r := range parameters(results) {
		if r.typ != "float32" {
			panic(name + " returns a " + r.typ)
		}
		w.results, result, give = append(w.results, f32), " float32", "return "
	}
	fmt.Fprintf(&f.decls, "\n//go:wasmimport %s %s\n//go:noescape\nfunc import%s(%s)%s\n",
		importFrom, w.name, upperFirst(w.name), strings.Join(declared, ", "), result)
	fmt.Fprintf(&f.decls, "\n%s\nfunc %s(%s)%s { %simport%s(%s) }\n",
		comment(doc), name, params, result, give, upperFirst(w.name), strings.Join(passed, ", "))
	f.functions = append(f.functions, w)
}

type parameter struct{ name, typ string }

// parameters returns the variables of a Go list such as "dst, a *float32, n int".
func parameters(list string) (all []parameter) {
	if list == "" {
		return nil
	}
	vars := strings.Split(list, ",")
	for i := range vars {
		name, typ, _ := strings.Cut(strings.TrimSpace(vars[i]), " ")
		for j := i + 1; typ == ""; j++ {
			_, typ, _ = strings.Cut(strings.TrimSpace(vars[j]), " ")
		}
		all = append(all, parameter{name, typ})
	}
	return all
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// step adds an instruction or a label to the current function.
func (f *file) step(s wasmStep) {
	if len(f.functions) > 0 {
		w := f.functions[len(f.functions)-1]
		w.steps = append(w.steps, s)
	}
}

// wasmWriter translates a function.
type wasmWriter struct {
	*wasmFunction
	tables map[string][]uint32 // the family's tables
	fields *fields
	named  map[string]int // locals by the names of registers and slots
	// A branch compares left with right, which the last instruction that sets flags left behind.
	left, right any
}

// finishWasm translates the functions of the family.
func (f *file) finishWasm(m *kernelModule) {
	for _, w := range f.functions {
		t := &wasmWriter{wasmFunction: w, tables: f.tables, fields: m.fields, named: map[string]int{}}
		t.write()
	}
	m.functions = append(m.functions, f.functions...)
}

func (w *wasmWriter) emit(bytes ...byte) { w.code = append(w.code, bytes...) }

// simd writes a vector instruction by its number.
func (w *wasmWriter) simd(number int) { w.code = uleb(append(w.code, 0xfd), uint64(number)) }

// local returns the local of a register, a slot or a result.
func (w *wasmWriter) local(name string) int {
	kind := byte(i32)
	switch {
	case isVector(name):
		name, kind = "V"+name[1:], v128
	case name == "result":
		kind = f32
	}
	if i := slices.Index(w.params, name); i >= 0 {
		return i
	}
	i, ok := w.named[name]
	if !ok {
		i = len(w.params) + len(w.locals)
		w.named[name] = i
		w.locals = append(w.locals, kind)
	}
	return i
}

func (w *wasmWriter) access(op byte, name string) {
	w.code = uleb(append(w.code, op), uint64(w.local(name)))
}
func (w *wasmWriter) get(name string) { w.access(localGet, name) }

func (w *wasmWriter) set(name string) {
	for _, o := range []any{w.left, w.right} {
		if s, ok := slot(o); o == any(name) || ok && s == name {
			w.left, w.right = nil, nil
		}
	}
	w.access(localSet, name)
}

func (w *wasmWriter) integer(n int) { w.code = sleb(append(w.code, i32Const), int64(int32(n))) }

var slotOperand = regexp.MustCompile(`^(\w+)[+-]\d+\((FP|SP)\)$`)

// slot returns the name of the local of a parameter, a result or a slot of the stack frame.
func slot(o any) (name string, ok bool) {
	s, _ := o.(string)
	part := slotOperand.FindStringSubmatch(s)
	if part == nil {
		return "", false
	}
	return part[1], true
}

// place writes the address of a memory operand, without the constant that it returns.
func (w *wasmWriter) place(o any) (offset int64) {
	part := memoryOperand.FindStringSubmatch(o.(string))
	if part == nil {
		panic(fmt.Sprintf("%v is not a place in memory", o))
	}
	w.get(part[2])
	if part[3] != "" {
		w.get(part[3])
		if shift := map[string]int{"1": 0, "2": 1, "4": 2, "8": 3}[part[4]]; shift > 0 {
			w.integer(shift)
			w.emit(i32Shl)
		} else if part[4] != "1" {
			n, _ := strconv.Atoi(part[4])
			w.integer(n)
			w.emit(i32Mul)
		}
		w.emit(i32Add)
	}
	if offset = w.displacement(part[1]); offset < 0 {
		w.integer(int(offset))
		w.emit(i32Add)
		return 0
	}
	return offset
}

var fieldName = regexp.MustCompile(`[A-Za-z_]\w*`)

// displacement evaluates the constant of a memory operand, in which names such as tile_rowA stand for offsets
// of fields.
func (w *wasmWriter) displacement(text string) int64 {
	if text == "" {
		return 0
	}
	sum, sign := int64(0), int64(1)
	for text != "" {
		end := strings.IndexAny(text[1:], "+-") + 1
		if end == 0 {
			end = len(text)
		}
		term := text[:end]
		text = text[end:]
		switch term[0] {
		case '-':
			sign, term = -1, term[1:]
		case '+':
			sign, term = 1, term[1:]
		}
		if fieldName.MatchString(term) {
			sum += sign * w.fields.offset(term)
			continue
		}
		n, err := strconv.ParseInt(term, 0, 64)
		if err != nil {
			panic(err)
		}
		sum += sign * n
	}
	return sum
}

// at writes a load or store whose address is on the stack. align is the logarithm of the size.
func (w *wasmWriter) at(op byte, align byte, offset int64) {
	w.emit(op, align)
	w.code = uleb(w.code, uint64(offset))
}

func (w *wasmWriter) simdAt(op int, align byte, offset int64) {
	w.simd(op)
	w.emit(align)
	w.code = uleb(w.code, uint64(offset))
}

// value writes an integer operand: an immediate, a register, a slot, or the lower half of an integer in memory.
func (w *wasmWriter) value(o any) {
	if n, ok := o.(int); ok {
		w.integer(n)
		return
	}
	if name, ok := slot(o); ok {
		w.get(name)
		return
	}
	if isMemory(o) {
		w.at(i32Load, 2, w.place(o))
		return
	}
	w.get(o.(string))
}

// to writes the end of an instruction whose result is the integer on the stack.
func (w *wasmWriter) to(o any) {
	if name, ok := slot(o); ok {
		w.set(name)
		return
	}
	if isMemory(o) {
		panic(fmt.Sprintf("a kernel changes %v", o))
	}
	w.set(o.(string))
}

// constant returns 16 bytes of a table, from an operand such as name<>+64(SB).
func (w *wasmWriter) constant(o any) (words [4]uint32, ok bool) {
	s, _ := o.(string)
	name, rest, found := strings.Cut(s, "<>")
	if !found {
		return words, false
	}
	table, known := w.tables[name]
	if !known {
		panic("no table " + name)
	}
	at := int(w.displacement(strings.TrimSuffix(rest, "(SB)"))) / 4
	copy(words[:], table[at:])
	return words, true
}

func (w *wasmWriter) vectorConstant(words [4]uint32) {
	if one := words[0]; words == [4]uint32{one, one, one, one} {
		w.integer(int(int32(one)))
		w.simd(i32x4Splat)
		return
	}
	w.simd(v128Const)
	for _, word := range words {
		w.emit(byte(word), byte(word>>8), byte(word>>16), byte(word>>24))
	}
}

// vector writes a vector operand: a register, a constant, or 16 bytes in memory.
func (w *wasmWriter) vector(o any) {
	if words, ok := w.constant(o); ok {
		w.vectorConstant(words)
		return
	}
	if isMemory(o) {
		w.simdAt(v128Load, 0, w.place(o))
		return
	}
	w.get(o.(string))
}

// compares records that the next branch compares an operand with another one.
func (w *wasmWriter) compares(left, right any) { w.left, w.right = left, right }

// integers writes an instruction on integers, to := to op by. If it sets flags, the next branch compares the
// result with zero.
func integers(op byte) wasmTranslation {
	return func(w *wasmWriter, o []any) {
		if isMemory(o[1]) {
			if _, ok := slot(o[1]); !ok {
				w.changeInMemory(op, o[0], o[1])
				return
			}
		}
		w.value(o[1])
		w.value(o[0])
		w.emit(op)
		w.to(o[1])
		w.compares(o[1], 0)
	}
}

// changeInMemory changes an integer of 64 bits in memory, which is an address. Its upper half is zero.
func (w *wasmWriter) changeInMemory(op byte, by, place any) {
	offset := w.place(place)
	w.value(place)
	w.value(by)
	w.emit(op)
	w.at(i32Store, 2, offset)
	w.compares(nil, nil)
}

type wasmTranslation = func(w *wasmWriter, o []any)

func ignored(*wasmWriter, []any) {}

// both translates an instruction on vectors, dst = a op b, whose operands are b, a and dst.
func both(number int) wasmTranslation {
	return func(w *wasmWriter, o []any) {
		w.vector(o[1])
		w.vector(o[0])
		w.simd(number)
		w.set(o[2].(string))
	}
}

// swapped is [both] for an instruction of WebAssembly that takes b before a.
func swapped(number int) wasmTranslation {
	return func(w *wasmWriter, o []any) {
		w.vector(o[0])
		w.vector(o[1])
		w.simd(number)
		w.set(o[2].(string))
	}
}

func oneOperand(numbers ...int) wasmTranslation {
	return func(w *wasmWriter, o []any) {
		w.vector(o[0])
		for _, n := range numbers {
			w.simd(n)
		}
		w.set(o[1].(string))
	}
}

// accumulate translates a multiply-add, acc = acc op a·b.
func accumulate(multiply, op int) wasmTranslation {
	return func(w *wasmWriter, o []any) {
		w.vector(o[2])
		w.vector(o[1])
		w.vector(o[0])
		w.simd(multiply)
		w.simd(op)
		w.set(o[2].(string))
	}
}

// factor translates a multiply-add whose destination is a factor: dst = dst·second + first.
func factor(multiply, add int) wasmTranslation {
	return func(w *wasmWriter, o []any) {
		w.vector(o[2])
		w.vector(o[1])
		w.simd(multiply)
		w.vector(o[0])
		w.simd(add)
		w.set(o[2].(string))
	}
}

func shifts(number int) wasmTranslation {
	return func(w *wasmWriter, o []any) {
		w.vector(o[1])
		w.integer(o[0].(int))
		w.simd(number)
		w.set(o[2].(string))
	}
}

func vectorMove(w *wasmWriter, o []any) {
	if isMemory(o[1]) {
		offset := w.place(o[1])
		w.vector(o[0])
		w.simdAt(v128Store, 0, offset)
		return
	}
	w.vector(o[0])
	w.set(o[1].(string))
}

// copies translates a copy of a number to all lanes.
func copies(w *wasmWriter, o []any) {
	if words, ok := w.constant(o[0]); ok {
		w.vectorConstant([4]uint32{words[0], words[0], words[0], words[0]})
	} else if name, ok := slot(o[0]); ok {
		w.get(name)
		w.simd(f32x4Splat)
	} else if isMemory(o[0]) {
		w.simdAt(v128Load32Splat, 2, w.place(o[0]))
	} else {
		w.get(o[0].(string))
		w.get(o[0].(string))
		w.shuffle(0, 0, 0, 0)
	}
	w.set(o[1].(string))
}

// shuffle combines lanes of 32 bits of the two vectors on the stack. Lanes from 4 on are the second vector's.
func (w *wasmWriter) shuffle(lanes ...int) {
	w.simd(i8x16Shuffle)
	for _, l := range lanes {
		for b := range 4 {
			w.emit(byte(4*l + b))
		}
	}
}

func jump(comparison byte) wasmTranslation {
	return func(w *wasmWriter, o []any) {
		if w.left == nil {
			panic(w.name + ": a branch depends on flags that are not set")
		}
		w.value(w.left)
		if w.right == any(0) && comparison == i32Eq {
			w.emit(i32Eqz)
			return
		}
		if w.right == any(0) && comparison == i32Ne {
			return
		}
		w.value(w.right)
		w.emit(comparison)
	}
}

var branches = map[string]wasmTranslation{
	"JEQ": jump(i32Eq), "JZ": jump(i32Eq), "JNE": jump(i32Ne), "JNZ": jump(i32Ne),
	"JLT": jump(i32LtS), "JLE": jump(i32LeS), "JGT": jump(i32GtS), "JGE": jump(i32GeS),
}

// These are names of steps that no instruction of amd64 does alone.
const (
	loadLanes  = "load lanes"
	storeLanes = "store lanes"
	fillLanes  = "fill lanes"
)

var wasmTranslations = map[string]wasmTranslation{
	"PREFETCHT0": ignored, "PREFETCHT1": ignored, "PCALIGN": ignored, "VZEROUPPER": ignored,

	"MOVQ": func(w *wasmWriter, o []any) {
		w.value(o[0])
		w.to(o[1])
	},
	"LEAQ": func(w *wasmWriter, o []any) {
		if offset := w.place(o[0]); offset != 0 {
			w.integer(int(offset))
			w.emit(i32Add)
		}
		w.to(o[1])
	},
	"ADDQ": integers(i32Add),
	"SUBQ": integers(i32Sub),
	"ANDQ": integers(i32And),
	"XORQ": integers(i32Xor),
	"SHRQ": integers(i32ShrU),
	"DECQ": func(w *wasmWriter, o []any) { integers(i32Sub)(w, []any{1, o[0]}) },
	"CMPQ": func(w *wasmWriter, o []any) { w.compares(o[0], o[1]) },
	"TESTQ": func(w *wasmWriter, o []any) {
		if o[0] != o[1] {
			panic("only a register and itself are tested")
		}
		w.compares(o[0], 0)
	},

	"VMOVUPS": vectorMove,
	"VMOVAPS": vectorMove,
	"VMOVDQU": vectorMove,
	"VMOVSS": func(w *wasmWriter, o []any) {
		if name, ok := slot(o[1]); ok {
			w.get(o[0].(string))
			w.simd(f32x4ExtractLane)
			w.emit(0)
			w.set(name)
			return
		}
		offset := w.place(o[1])
		w.get(o[0].(string))
		w.simdAt(v128Store32Lane, 2, offset)
		w.emit(0)
	},
	"VBROADCASTSS": copies,
	"VPBROADCASTD": copies,
	"VBROADCASTSD": func(w *wasmWriter, o []any) {
		words, ok := w.constant(o[0])
		if !ok {
			panic("only a constant of 64 bits is copied to all lanes")
		}
		w.vectorConstant([4]uint32{words[0], words[1], words[0], words[1]})
		w.set(o[1].(string))
	},

	"VADDPS": both(f32x4Add),
	"VSUBPS": both(f32x4Sub),
	"VMULPS": both(f32x4Mul),
	"VDIVPS": both(f32x4Div),
	// The minimum and the maximum of AVX are b, the first operand, if an operand is NaN or both are zero. So are
	// those of WebAssembly that are called pseudo, of b and a.
	"VMAXPS":       swapped(f32x4Pmax),
	"VMINPS":       swapped(f32x4Pmin),
	"VFMADD231PS":  accumulate(f32x4Mul, f32x4Add),
	"VFNMADD231PS": accumulate(f32x4Mul, f32x4Sub),
	"VFMADD213PS":  factor(f32x4Mul, f32x4Add),
	"VSQRTPS":      oneOperand(f32x4Sqrt),
	"VCVTPS2DQ":    oneOperand(f32x4Nearest, i32x4TruncSatS),
	"VCVTDQ2PS":    oneOperand(f32x4ConvertS),
	"VROUNDPS": func(w *wasmWriter, o []any) {
		w.vector(o[1])
		w.simd(map[int]int{nearestEven: f32x4Nearest, down: f32x4Floor, up: f32x4Ceil}[o[0].(int)])
		w.set(o[2].(string))
	},
	"VANDPS": both(v128And),
	"VPAND":  both(v128And),
	"VORPS":  both(v128Or),
	"VXORPS": func(w *wasmWriter, o []any) {
		if o[0] == o[1] {
			w.vectorConstant([4]uint32{})
			w.set(o[2].(string))
			return
		}
		both(v128Xor)(w, o)
	},
	"VPADDD": both(i32x4Add),
	"VPSUBD": both(i32x4Sub),
	"VPSLLD": shifts(i32x4Shl),
	"VPSRLD": shifts(i32x4ShrU),
	"VPSRAD": shifts(i32x4ShrS),
	"VCMPPS": func(w *wasmWriter, o []any) {
		w.vector(o[2])
		w.vector(o[1])
		switch o[0].(int) {
		case equal:
			w.simd(f32x4Eq)
		case unequal:
			w.simd(f32x4Ne)
		case greater:
			w.simd(f32x4Gt)
		case less:
			w.simd(f32x4Lt)
		case notLess:
			w.simd(f32x4Lt)
			w.simd(v128Not)
		case unordered:
			if o[1] != o[2] {
				panic("only a value and itself are compared for NaN")
			}
			w.simd(f32x4Ne)
		}
		w.set(o[3].(string))
	},
	"VBLENDVPS": func(w *wasmWriter, o []any) {
		w.vector(o[1])
		w.vector(o[2])
		w.vector(o[0])
		w.simd(v128Bitselect)
		w.set(o[3].(string))
	},
	"VPERMILPS": func(w *wasmWriter, o []any) {
		w.vector(o[1])
		w.vector(o[1])
		switch o[0].(int) {
		case swapHalves:
			w.shuffle(2, 3, 0, 1)
		case swapNeighbours:
			w.shuffle(1, 0, 3, 2)
		}
		w.set(o[2].(string))
	},

	// The first CX lanes are loaded or stored; the other lanes become zero.
	loadLanes:  func(w *wasmWriter, o []any) { w.lanes(o[0].(string), o[1].(string), false) },
	storeLanes: func(w *wasmWriter, o []any) { w.lanes(o[1].(string), o[0].(string), true) },
	fillLanes: func(w *wasmWriter, o []any) {
		w.vector(o[1])
		w.vector(o[0])
		w.vectorConstant([4]uint32{0, 1, 2, 3})
		w.get("CX")
		w.simd(i32x4Splat)
		w.simd(i32x4LtS)
		w.simd(v128Bitselect)
		w.set(o[1].(string))
	},
}

// lanes writes a load or a store of the first CX lanes of a register.
func (w *wasmWriter) lanes(place, register string, store bool) {
	when := func(condition func(), yes, no func()) {
		condition()
		w.emit(ifStart, emptyType)
		yes()
		if no != nil {
			w.emit(elseStart)
			no()
		}
		w.emit(end)
	}
	has := func(bit int) func() {
		return func() {
			w.get("CX")
			w.integer(bit)
			w.emit(i32And)
		}
	}
	// move loads or stores a part of 1, 2 or 4 lanes at the start. third is lane 2.
	move := func(load, save int, align byte) func() {
		return func() {
			offset := w.place(place)
			if store {
				w.get(register)
				w.simdAt(save, align, offset)
				if align < 4 {
					w.emit(0)
				}
				return
			}
			w.simdAt(load, align, offset)
			w.set(register)
		}
	}
	third := func() {
		offset := w.place(place) + 8
		w.get(register)
		if store {
			w.simdAt(v128Store32Lane, 2, offset)
			w.emit(2)
			return
		}
		w.simdAt(v128Load32Lane, 2, offset)
		w.emit(2)
		w.set(register)
	}
	when(func() {
		w.get("CX")
		w.integer(4)
		w.emit(i32GeS)
	}, move(v128Load, v128Store, 4), func() {
		when(has(2), func() {
			move(v128Load64Zero, v128Store64Lane, 3)()
			when(has(1), third, nil)
		}, move(v128Load32Zero, v128Store32Lane, 2))
	})
}

// tailOfWasm writes the code that loads or stores a register of four lanes; see [file.tailOf].
func (f *file) tailOfWasm(from, to string) {
	if isMemory(to) {
		f.op(storeLanes, from, to)
	} else {
		f.op(loadLanes, from, to)
	}
}
