package spirv

import (
	"math/bits"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// cell is the unit of one access to memory: n adjacent elements. Elements of 8 and 16 bits are
// narrow. Narrow elements that fill one or more words are moved in words.
type cell struct {
	d ir.DType
	n int
}

func isNarrow(d ir.DType) bool { return d.Size() < 4 }

func (c cell) size() int { return c.n * c.d.Size() }

// isWords reports whether the cell is moved as whole words of 32 bits: its elements are narrow and fill at least one
// word.
func (c cell) isWords() bool { return isNarrow(c.d) && c.size() >= 4 }

// cellOf returns the cell for an access to n adjacent elements. If the elements are narrow and do not fill a word,
// the cell has one element. Otherwise it has all n elements.
func cellOf(d ir.DType, n int) cell {
	if isNarrow(d) && n*d.Size() < 4 {
		return cell{d, 1}
	}
	return cell{d, n}
}

func (f *function) memory(c cell) uint32 {
	switch {
	case c.isWords():
		return f.vector(f.integer(32), c.size()/4)
	case isNarrow(c.d):
		return f.integer(8 * c.d.Size())
	}
	return f.vector(f.register(c.d), c.n)
}

func (f *function) unpack(c cell, x uint32) []uint32 {
	switch {
	case c.isWords():
		var out []uint32
		for _, w := range f.components(f.integer(32), x, c.size()/4) {
			for shift := 0; shift < 32; shift += 8 * c.d.Size() {
				out = append(out, f.part(c.d, w, f.word(uint32(shift))))
			}
		}
		return out
	case isNarrow(c.d):
		return []uint32{f.fromBits(c.d, f.value(opUConvert, f.integer(32), x))}
	}
	return f.components(f.register(c.d), x, c.n)
}

func (f *function) pack(c cell, x []uint32) uint32 {
	word := f.integer(32)
	switch {
	case c.isWords():
		per := 4 / c.d.Size()
		words := make([]uint32, len(x)/per)
		for i, v := range x {
			b := f.toBits(c.d, v)
			if i%per == 0 {
				words[i/per] = b
				continue
			}
			b = f.bits(opShiftLeftLogical, b, uint32(i%per*8*c.d.Size()))
			words[i/per] = f.value(opBitwiseOr, word, words[i/per], b)
		}
		return f.composite(word, words)
	case isNarrow(c.d):
		return f.value(opUConvert, f.memory(c), f.toBits(c.d, x[0]))
	}
	return f.composite(f.register(c.d), x)
}

func (f *function) components(elem, x uint32, n int) []uint32 {
	if n == 1 {
		return []uint32{x}
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = f.value(opCompositeExtract, elem, x, uint32(i))
	}
	return out
}

func (f *function) composite(elem uint32, x []uint32) uint32 {
	if len(x) == 1 {
		return x[0]
	}
	return f.value(opCompositeConstruct, f.vector(elem, len(x)), x...)
}

func (f *function) part(d ir.DType, w, shift uint32) uint32 {
	if shift != f.word(0) {
		w = f.value(opShiftRightLogical, f.integer(32), w, shift)
	}
	return f.fromBits(d, f.bits(opBitwiseAnd, w, 1<<(8*d.Size())-1))
}

func (f *function) fromBits(d ir.DType, x uint32) uint32 {
	if d == ir.Bool {
		return f.value(opINotEqual, f.register(ir.Bool), x, f.word(0))
	}
	return x
}

func (f *function) toBits(d ir.DType, x uint32) uint32 {
	if d == ir.Bool {
		return f.choose(ir.U32, x, f.word(1), f.word(0))
	}
	return x
}

func (f *function) load(p, i *kernel.Value, n int) []uint32 {
	c := f.cell(p, n)
	var out []uint32
	for first := 0; first < n; first += c.n {
		switch {
		case p.Type.Space == kernel.Shared:
			x := f.value(opLoad, f.slot(c), f.element(p, i, first))
			if f.isSlot(c) {
				out = append(out, f.fromBits(c.d, x))
				continue
			}
			out = append(out, f.unpack(c, x)...)
		case f.isSlot(c):
			at, shift := f.place(p, i, first)
			w := f.value(opAtomicLoad, f.integer(32), at, f.word(scopeDevice), f.word(semanticsRelaxed))
			out = append(out, f.part(c.d, w, shift))
		default:
			f.access(c)
			x := f.value(opLoad, f.memory(c), f.at(c, p, i, first), accessAligned, uint32(c.size()))
			out = append(out, f.unpack(c, x)...)
		}
	}
	return out
}

func (f *function) store(p, i *kernel.Value, values []uint32) {
	c := f.cell(p, len(values))
	for first := 0; first < len(values); first += c.n {
		x := values[first : first+c.n]
		switch {
		case p.Type.Space == kernel.Shared && f.isSlot(c):
			f.do(opStore, f.element(p, i, first), f.toBits(c.d, x[0]))
		case p.Type.Space == kernel.Shared:
			f.do(opStore, f.element(p, i, first), f.pack(c, x))
		case f.isSlot(c):
			f.replace(p, i, first, c.d, x[0])
		default:
			f.access(c)
			f.do(opStore, f.at(c, p, i, first), f.pack(c, x), accessAligned, uint32(c.size()))
		}
	}
}

func (f *function) cell(p *kernel.Value, n int) cell {
	f.register(p.Type.DType) // fails if it is not a type of kernels
	if p.Type.Space == kernel.Shared {
		return f.cells[p]
	}
	return cellOf(p.Type.DType, n)
}

// isSlot reports whether a cell is one narrow element that is accessed as part of a word. This is so if memory is
// only accessed in words, see [Options].
func (f *function) isSlot(c cell) bool { return f.Words && isNarrow(c.d) && !c.isWords() }

func (f *function) slot(c cell) uint32 {
	switch {
	case f.isSlot(c):
		return f.integer(32)
	case isNarrow(c.d) && !c.isWords():
		f.need(map[int]string{1: "shaderInt8", 2: "shaderInt16"}[c.d.Size()])
	}
	return f.memory(c)
}

// access records the features that an access to a cell of global memory needs. An element of 8 or 16 bits needs two,
// if it is not moved as part of a word: integers of this width in registers, and integers of this width in memory.
// SPIR-V does not always require the first feature. Without it, however, an address cannot be cast to a pointer to
// such elements.
func (f *function) access(c cell) {
	if isNarrow(c.d) && !c.isWords() {
		f.need(map[int]string{1: "shaderInt8", 2: "shaderInt16"}[c.d.Size()])
		f.need(map[int]string{1: "storageBuffer8BitAccess", 2: "storageBuffer16BitAccess"}[c.d.Size()])
	}
}

// base is a global array whose elements are accessed in a type.
type base struct {
	array *kernel.Value
	typ   uint32
}

// base returns a pointer to the array p, seen as elements of type typ that are `size` bytes apart. The function
// `address` returns the address of p.
func (f *function) base(p *kernel.Value, typ uint32, size int, address func() uint32) uint32 {
	key := base{p, typ}
	if _, ok := f.bases[key]; !ok {
		f.bases[key] = f.first(func() uint32 {
			return f.value(opBitcast, f.pointer(classPhysicalStorageBuffer, f.elements(typ, size)), address())
		})
	}
	return f.bases[key]
}

func (f *function) address(p *kernel.Value) uint32 {
	id, ok := f.ids[p]
	if !ok {
		id = f.argument(p)
		f.set(p, id)
	}
	return id
}

// at returns a pointer to the cell of global memory that begins at element i + first of p.
func (f *function) at(c cell, p, i *kernel.Value, first int) uint32 {
	typ := f.memory(c)
	from := f.base(p, typ, c.size(), func() uint32 { return f.address(p) })
	return f.value(opAccessChain, f.pointer(classPhysicalStorageBuffer, typ), from, f.word(0), f.position(i, first, c.n))
}

// position returns the index of the cell of n elements that begins at element i + first.
func (f *function) position(i *kernel.Value, first, n int) uint32 {
	d := i.Type.DType
	if at, ok := i.Const(); ok {
		return f.constant(d, (at+uint64(first))/uint64(n))
	}
	index := f.of(i)
	if n > 1 {
		index = f.value(opShiftRightLogical, f.register(d), index, f.word(uint32(bits.TrailingZeros(uint(n)))))
	}
	if first > 0 {
		index = f.value(opIAdd, f.register(d), index, f.constant(d, uint64(first/n)))
	}
	return index
}

// place returns a pointer to the word that contains element i + first of p. The element is narrow. shift is the bit
// at which it begins. The first word of p begins at p's address, rounded down to a multiple of 4.
func (f *function) place(p, i *kernel.Value, first int) (at, shift uint32) {
	word := f.integer(32)
	log := uint32(bits.TrailingZeros(uint(p.Type.DType.Size())))
	words := f.base(p, word, 4, func() uint32 {
		half := f.components(word, f.address(p), 2)
		return f.composite(word, []uint32{f.bits(opBitwiseAnd, half[0], ^uint32(3)), half[1]})
	})
	n := f.position(i, first, 1)
	if i.Type.DType == ir.I64 {
		n = f.value(opUConvert, word, n)
	}
	n = f.value(opIAdd, word, n, f.skipped(p, log))
	at = f.value(opAccessChain, f.pointer(classPhysicalStorageBuffer, word), words, f.word(0), f.bits(opShiftRightLogical, n, 2-log))
	return at, f.bits(opShiftLeftLogical, f.bits(opBitwiseAnd, n, 4>>log-1), 3+log)
}

// skipped returns how many elements of 2ˡᵒᵍ bytes the first word of p has before p's first element; see
// [function.place].
func (f *function) skipped(p *kernel.Value, log uint32) uint32 {
	if _, ok := f.skips[p]; !ok {
		f.skips[p] = f.first(func() uint32 {
			low := f.components(f.integer(32), f.address(p), 2)[0]
			return f.bits(opShiftRightLogical, f.bits(opBitwiseAnd, low, 3), log)
		})
	}
	return f.skips[p]
}

// replace stores x as element i + first of p. The element is narrow, so replace changes a part of its word. Other
// threads may store the other elements of the word at the same time.
func (f *function) replace(p, i *kernel.Value, first int, d ir.DType, x uint32) {
	word, device, relaxed := f.integer(32), f.word(scopeDevice), f.word(semanticsRelaxed)
	at, shift := f.place(p, i, first)
	mask := f.value(opShiftLeftLogical, word, f.word(1<<(8*d.Size())-1), shift)
	f.value(opAtomicAnd, word, at, device, relaxed, f.value(opNot, word, mask))
	f.value(opAtomicOr, word, at, device, relaxed, f.value(opShiftLeftLogical, word, f.toBits(d, x), shift))
}

// element returns a pointer to the cell of a shared array that contains element i + first.
func (f *function) element(array, i *kernel.Value, first int) uint32 {
	c := f.cells[array]
	variable, ok := f.ids[array]
	if !ok {
		n := (array.Len + c.n - 1) / c.n
		variable = f.variable(classWorkgroup, f.typ(opTypeArray, f.slot(c), f.word(uint32(n))), array.Name)
		f.ids[array] = f.uses(variable)
	}
	return f.value(opAccessChain, f.pointer(classWorkgroup, f.slot(c)), variable, f.position(i, first, c.n))
}

// measure sets the cell of each shared array that b accesses. The cell is the unit of all accesses to the array. Each
// access must move whole cells, so the cell has as many elements as the access with the fewest elements.
func (f *function) measure(b *kernel.Block) {
	for _, in := range b.Instrs {
		n := 0
		switch in.Op {
		case kernel.Load:
			n = len(in.Results)
		case kernel.Store:
			n = len(in.Args) - 2
		default:
			if len(in.Args) > 0 && in.Args[0].Type.Space != kernel.NoSpace {
				n = 1
			}
		}
		if n > 0 && in.Args[0].Type.Space == kernel.Shared {
			p := in.Args[0]
			c := cellOf(p.Type.DType, n)
			if known, ok := f.cells[p]; !ok || c.n < known.n {
				f.cells[p] = c
			}
		}
		for _, inner := range in.Blocks {
			f.measure(inner)
		}
	}
}

var atomics = map[kernel.Op]forms{
	kernel.AtomicAdd:  {0, opAtomicIAdd, opAtomicIAdd, 0},
	kernel.AtomicMin:  {0, opAtomicSMin, opAtomicUMin, 0},
	kernel.AtomicMax:  {0, opAtomicSMax, opAtomicUMax, 0},
	kernel.AtomicAnd:  {0, opAtomicAnd, opAtomicAnd, 0},
	kernel.AtomicOr:   {0, opAtomicOr, opAtomicOr, 0},
	kernel.AtomicXchg: {0, opAtomicExchange, opAtomicExchange, 0},
}

func (f *function) atomic(in *kernel.Instr) uint32 {
	p := in.Args[0]
	d := p.Type.DType
	x := f.all(in.Args[2:])
	relaxed := f.word(semanticsRelaxed)
	var at, scope uint32
	feature := "shaderBufferInt64Atomics"
	if p.Type.Space == kernel.Shared {
		at, scope, feature = f.element(p, in.Args[1], 0), f.word(scopeWorkgroup), "shaderSharedInt64Atomics"
	} else {
		at, scope = f.at(cell{d, 1}, p, in.Args[1], 0), f.word(scopeDevice)
	}
	if d.Bits() == 64 {
		f.need(feature)
	}
	if in.Op == kernel.AtomicCAS {
		return f.value(opAtomicCompareExchange, f.register(d), at, scope, relaxed, relaxed, x[1], x[0])
	}
	op := atomics[in.Op].on(d)
	if op == 0 || isNarrow(d) {
		fail("%s of %s", in.Op, d)
	}
	return f.value(op, f.register(d), at, scope, relaxed, x[0])
}
