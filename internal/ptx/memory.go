package ptx

import (
	"encoding/binary"
	"strings"
)

// specials holds the names of the special registers that instructions can read.
var specials = func() map[string]bool {
	names := map[string]bool{}
	for name := range indexes {
		for dim := range 3 {
			names[name+"."+string("xyz"[dim])] = true
		}
	}
	return names
}()

// indexes maps special registers to their contents: the index of the thread or block, or the
// extents of the block or grid.
var indexes = map[string]func(t *thread) *[3]int{
	"%tid":    func(t *thread) *[3]int { return &t.index },
	"%ntid":   func(t *thread) *[3]int { return &t.launch.block },
	"%ctaid":  func(t *thread) *[3]int { return &t.launch.at },
	"%nctaid": func(t *thread) *[3]int { return &t.launch.grid },
}

// mov decodes a move: of a register, a special register, a constant or the address of an array, or
// between a register and its two halves.
func (d *decoder) mov() {
	t := d.typ(masks + " " + wholes + " " + reals + " pred")
	d.operands(2)
	from := d.args[1]
	switch {
	case d.args[0].form == vector:
		d.split(t)
		return
	case from.form == vector:
		d.join(t)
		return
	case from.form == named && specials[from.name]:
		if t != (typ{'u', 32}) {
			d.fail("%s is .u32", from.name)
		}
		name, axis, _ := strings.Cut(from.name, ".")
		index, dim := indexes[name], int(axis[0]-'x')
		r := d.to(0, t)
		d.step.exec = func(t *thread) { t.r[r] = uint64(index(t)[dim]) }
		return
	}
	if s, ok := d.names.find(from.name); from.form == named && ok && (s.what == array || s.what == dynamic) {
		if t.bits < 32 || t.isFloat() {
			d.fail("the address of an array is .u32 or .u64")
		}
		at := d.constant(uint64(d.offset(s)))
		r := d.to(0, t)
		d.step.exec = func(t *thread) { t.r[r] = t.r[at] }
		return
	}
	d.unary(t, t, func(x uint64) uint64 { return x })
}

// offset returns the offset of an array in shared memory. A dynamic array is after all others.
func (d *decoder) offset(s symbol) int {
	if s.what == dynamic {
		return d.entry.dynamic()
	}
	return s.at
}

// halves returns the slots of the two registers in o, which together hold a value of type t.
func (d *decoder) halves(o operand, t typ) (low, high int) {
	if t.kind != 'b' || t.bits < 32 || len(o.list) != 2 {
		d.fail("two registers make .b32 or .b64")
	}
	half := typ{'b', t.bits / 2}
	return d.register(o.list[0], half, fits), d.register(o.list[1], half, fits)
}

// split decodes a mov from a register of type t to its two halves.
func (d *decoder) split(t typ) {
	x := d.from(1, t)
	low, high := d.halves(d.args[0], t)
	d.step.writes = append(d.step.writes, low, high)
	half := t.bits / 2
	d.step.exec = func(t *thread) {
		n := t.r[x]
		t.r[low], t.r[high] = n&(1<<half-1), n>>half
	}
}

// join decodes a mov from two halves to a register of type t.
func (d *decoder) join(t typ) {
	low, high := d.halves(d.args[1], t)
	d.step.reads = append(d.step.reads, low, high)
	r := d.to(0, t)
	half := t.bits / 2
	d.step.exec = func(t *thread) { t.r[r] = t.r[low] | t.r[high]<<half }
}

// place is an address: the value of a register or constant plus an offset.
type place struct {
	base   int // a slot
	offset uint64
}

// place returns the place of operand i, which must be an address in the given memory space.
func (d *decoder) place(i int, space string) place {
	o := d.args[i]
	if o.form != address {
		d.fail("operand %d is not an address", i+1)
	}
	if s, ok := d.names.find(o.name); ok && space == "shared" && (s.what == array || s.what == dynamic) {
		return place{d.constant(uint64(d.offset(s))), uint64(o.offset)}
	}
	t := typ{'u', 64}
	if s, ok := d.names.find(o.name); ok && space == "shared" && s.what == register && d.entry.registers[s.at].bits == 32 {
		t.bits = 32
	}
	return place{d.source(operand{form: named, name: o.name}, t, fits), uint64(o.offset)}
}

// bytes returns the n bytes at an address, in shared memory if `shared` is true and otherwise in global memory. It
// returns nil after a fault.
func (p place) bytes(t *thread, shared bool, n int) []byte {
	at := t.r[p.base] + p.offset
	if shared {
		return t.shared(uint64(uint32(at)), n)
	}
	return t.global(at, n)
}

func get(b []byte, n int) uint64 {
	switch n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func put(b []byte, n int, x uint64) {
	switch n {
	case 1:
		b[0] = byte(x)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(x))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(x))
	default:
		binary.LittleEndian.PutUint64(b, x)
	}
}

const stored = "b8 u8 s8 b16 u16 s16 b32 u32 s32 b64 u64 s64 f32 f64"

// elements reads the number and the type of the elements that a load or store accesses. It returns
// the type, and the registers that operand i lists for the elements.
func (d *decoder) elements(i int) (t typ, list []operand) {
	n := 1
	switch {
	case d.has("v2"):
		n = 2
	case d.has("v4"):
		n = 4
	}
	t = d.typ(stored)
	d.operands(2)
	list = d.args[i : i+1]
	if n > 1 {
		if list = d.args[i].list; len(list) != n {
			d.fail("%d registers, want %d", len(list), n)
		}
	}
	if n*t.bits > 128 {
		d.fail("more than 16 bytes")
	}
	return t, list
}

func (d *decoder) load() {
	space := d.one("param", "global", "shared")
	if space == "param" {
		d.loadParam()
		return
	}
	if space == "global" {
		d.has("nc")
	}
	t, list := d.elements(0)
	from := d.place(1, space)
	shared, size := space == "shared", t.bits/8
	slots := make([]int, len(list))
	extends := make([]func(uint64) uint64, len(list))
	for i, o := range list {
		slots[i] = d.register(o, t, fitsWide)
		extends[i] = d.extend(t, slots[i])
	}
	d.step.writes = append(d.step.writes, slots...)
	d.step.exec = func(th *thread) {
		b := from.bytes(th, shared, len(slots)*size)
		if b == nil {
			return
		}
		for i, r := range slots {
			th.r[r] = extends[i](get(b[i*size:], size))
		}
	}
}

// loadParam decodes ld.param. The instruction may read the low bytes of a parameter.
func (d *decoder) loadParam() {
	t := d.typ(stored)
	d.operands(2)
	o := d.args[1]
	s, ok := d.names.find(o.name)
	if o.form != address || !ok || s.what != parameter || o.offset != 0 {
		d.fail("no parameter is called %s", o.name)
	}
	if p := d.entry.params[s.at]; p.typ.bits < t.bits {
		d.fail("parameter %s is .%s", p.name, p.typ)
	}
	r := d.register(d.args[0], t, fitsWide)
	d.step.writes = append(d.step.writes, r)
	extend := d.extend(t, r)
	d.step.exec = func(th *thread) { th.r[r] = extend(th.launch.params[s.at] & t.mask()) }
}

func (d *decoder) store() {
	space := d.one("global", "shared")
	t, list := d.elements(1)
	to := d.place(0, space)
	shared, size := space == "shared", t.bits/8
	slots := make([]int, len(list))
	for i, o := range list {
		slots[i] = d.source(o, t, fitsWide)
	}
	d.step.exec = func(th *thread) {
		b := to.bytes(th, shared, len(slots)*size)
		if b == nil {
			return
		}
		for i, r := range slots {
			put(b[i*size:], size, th.r[r])
		}
	}
}

// atom decodes an atomic operation, which changes an element in memory and returns its old value.
// Threads run one after the other, so each instruction is atomic.
func (d *decoder) atom() {
	space := d.one("global", "shared")
	name := d.one("add", "min", "max", "and", "or", "xor", "exch", "cas")
	t := d.typ(map[string]string{
		"add": "u32 s32 u64", "min": wide, "max": wide, "and": "b32 b64", "or": "b32 b64", "xor": "b32 b64", "exch": "b32 b64", "cas": "b32 b64",
	}[name])
	less := func(x, y uint64) bool { return x < y }
	if t.kind == 's' {
		less = func(x, y uint64) bool { return t.signed(x) < t.signed(y) }
	}
	change := map[string]func(old, x, y uint64) uint64{
		"add":  func(old, x, _ uint64) uint64 { return old + x },
		"min":  func(old, x, _ uint64) uint64 { return choice(less(x, old), x, old) },
		"max":  func(old, x, _ uint64) uint64 { return choice(less(old, x), x, old) },
		"and":  func(old, x, _ uint64) uint64 { return old & x },
		"or":   func(old, x, _ uint64) uint64 { return old | x },
		"xor":  func(old, x, _ uint64) uint64 { return old ^ x },
		"exch": func(_, x, _ uint64) uint64 { return x },
		"cas":  func(old, x, y uint64) uint64 { return choice(old == x, y, old) },
	}[name]
	d.operands(3 + int(truth(name == "cas")))
	x, y := d.from(2, t), d.from(len(d.args)-1, t) // the same but for cas
	to := d.place(1, space)
	r := d.to(0, t)
	shared, size := space == "shared", t.bits/8
	d.step.exec = func(th *thread) {
		b := to.bytes(th, shared, size)
		if b == nil {
			return
		}
		old := get(b, size)
		put(b, size, change(old, th.r[x], th.r[y]))
		th.r[r] = old
	}
}

func choice(first bool, x, y uint64) uint64 {
	if first {
		return x
	}
	return y
}
