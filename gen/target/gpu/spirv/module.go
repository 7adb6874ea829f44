package spirv

import (
	"encoding/binary"
	"fmt"
	"maps"

	"github.com/burngen/burngen/ir"
)

// module holds the sections of a module, in the order in which they are written, and gives out ids.
type module struct {
	last     uint32          // the id that was given out last
	features map[string]bool // the features of the device that the kernels need

	entries, modes, sources, names, decorations, globals, functions []uint32

	known map[string]uint32 // ids of imports, types, constants and variables that kernels share
	keys  []string          // keys of known, in the order in which they were added
	glsl  uint32            // the imported set of instructions, or 0
}

// mark holds the lengths of the parts of a module at some time, for [module.restore].
type mark struct {
	last, glsl uint32
	keys       int
	features   map[string]bool
	sections   [7]int
}

func (m *module) sections() [7]*[]uint32 {
	return [7]*[]uint32{&m.entries, &m.modes, &m.sources, &m.names, &m.decorations, &m.globals, &m.functions}
}

func (m *module) mark() mark {
	at := mark{last: m.last, glsl: m.glsl, keys: len(m.keys), features: maps.Clone(m.features)}
	for i, section := range m.sections() {
		at.sections[i] = len(*section)
	}
	return at
}

func (m *module) restore(at mark) {
	m.last, m.glsl, m.features = at.last, at.glsl, at.features
	for _, key := range m.keys[at.keys:] {
		delete(m.known, key)
	}
	m.keys = m.keys[:at.keys]
	for i, section := range m.sections() {
		*section = (*section)[:at.sections[i]]
	}
}

// features lists the features of a device, by their names in Vulkan, and the capabilities for which
// a module needs them.
var features = []struct {
	name       string
	capability uint32
}{
	{"bufferDeviceAddress", capPhysicalStorageBufferAddresses},
	{"shaderInt64", capInt64},
	{"shaderFloat64", capFloat64},
	{"shaderInt8", capInt8},
	{"shaderInt16", capInt16},
	{"storageBuffer8BitAccess", capStorageBuffer8BitAccess},
	{"storageBuffer16BitAccess", capStorageBuffer16BitAccess},
	{"shaderBufferInt64Atomics", capInt64Atomics},
	{"shaderSharedInt64Atomics", capInt64Atomics},
	{"shaderDenormPreserveFloat32", capDenormPreserve},
	{"shaderRoundingModeRTEFloat32", capRoundingModeRTE},
	{"shaderSignedZeroInfNanPreserveFloat32", capSignedZeroInfNanPreserve},
	{"shaderSignedZeroInfNanPreserveFloat64", capSignedZeroInfNanPreserve},
}

func newModule() *module {
	m := &module{features: map[string]bool{}, known: map[string]uint32{}}
	m.need("bufferDeviceAddress")
	return m
}

func (m *module) need(feature string) { m.features[feature] = true }

func (m *module) needs() []string {
	var out []string
	for _, f := range features {
		if m.features[f.name] {
			out = append(out, f.name)
		}
	}
	return out
}

// bytes returns the module as little-endian words.
func (m *module) bytes() []byte {
	words := []uint32{magic, version, 0, m.last + 1, 0}
	words = add(words, opCapability, capShader)
	declared := map[uint32]bool{}
	for _, f := range features {
		if m.features[f.name] && !declared[f.capability] {
			declared[f.capability] = true
			words = add(words, opCapability, f.capability)
		}
	}
	if m.glsl != 0 {
		words = add(words, opExtInstImport, append([]uint32{m.glsl}, text("GLSL.std.450")...)...)
	}
	words = add(words, opMemoryModel, addressingPhysicalStorageBuffer64, memoryGLSL450)
	for _, section := range m.sections() {
		words = append(words, *section...)
	}
	out := make([]byte, 0, 4*len(words))
	for _, w := range words {
		out = binary.LittleEndian.AppendUint32(out, w)
	}
	return out
}

func add(section []uint32, op uint32, operands ...uint32) []uint32 {
	return append(append(section, uint32(len(operands)+1)<<16|op), operands...)
}

// text returns a string as words, with its terminating 0.
func text(s string) []uint32 {
	b := append([]byte(s), 0)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	words := make([]uint32, len(b)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return words
}

func (m *module) id() uint32 {
	m.last++
	return m.last
}

func (m *module) name(id uint32, name string) {
	if name != "" {
		m.names = add(m.names, opName, append([]uint32{id}, text(name)...)...)
	}
}

func (m *module) decorate(id uint32, decoration ...uint32) {
	m.decorations = add(m.decorations, opDecorate, append([]uint32{id}, decoration...)...)
}

// shared returns the id of an object that a module has only once, such as a type. key identifies the object. The
// function `build` makes the object when it is first needed.
func (m *module) shared(build func() uint32, key ...any) uint32 {
	k := fmt.Sprint(key...)
	if id, ok := m.known[k]; ok {
		return id
	}
	id := build()
	m.known[k], m.keys = id, append(m.keys, k)
	return id
}

func (m *module) typ(op uint32, operands ...uint32) uint32 {
	return m.shared(func() uint32 {
		id := m.id()
		m.globals = add(m.globals, op, append([]uint32{id}, operands...)...)
		return id
	}, "type", op, operands)
}

func (m *module) pointer(class, to uint32) uint32 { return m.typ(opTypePointer, class, to) }

// integer returns the type of integers of a width. All are unsigned, because the operations
// determine the sign.
func (m *module) integer(bits int) uint32 {
	if bits == 64 {
		m.need("shaderInt64")
	}
	return m.typ(opTypeInt, uint32(bits), 0)
}

// halves returns the type in which addresses and arguments of 64 bits are loaded. It has two words, the low word
// first.
func (m *module) halves() uint32 { return m.vector(m.integer(32), 2) }

// register returns the type in which values of type d are computed. Values of storage types are in
// the low bits of a word; the other bits are 0.
func (m *module) register(d ir.DType) uint32 {
	switch d {
	case ir.Bool:
		return m.typ(opTypeBool)
	case ir.F32:
		return m.typ(opTypeFloat, 32)
	case ir.F64:
		m.need("shaderFloat64")
		return m.typ(opTypeFloat, 64)
	case ir.I64, ir.U64:
		return m.integer(64)
	case ir.I32, ir.U32, ir.I16, ir.U16, ir.I8, ir.U8, ir.F16, ir.BF16:
		return m.integer(32)
	}
	fail("%s is not a type of kernels", d)
	return 0
}

func (m *module) vector(elem uint32, n int) uint32 {
	if n == 1 {
		return elem
	}
	return m.typ(opTypeVector, elem, uint32(n))
}

func (m *module) constant(d ir.DType, bits uint64) uint32 {
	typ := m.register(d)
	if d == ir.Bool {
		op := uint32(opConstantFalse)
		if bits != 0 {
			op = opConstantTrue
		}
		return m.global(op, typ)
	}
	if d.Bits() == 64 {
		return m.global(opConstant, typ, uint32(bits), uint32(bits>>32))
	}
	return m.global(opConstant, typ, uint32(bits))
}

func (m *module) global(op, typ uint32, words ...uint32) uint32 {
	return m.shared(func() uint32 {
		id := m.id()
		m.globals = add(m.globals, op, append([]uint32{typ, id}, words...)...)
		return id
	}, "constant", op, typ, words)
}

func (m *module) word(n uint32) uint32 { return m.constant(ir.U32, uint64(n)) }

func (m *module) variable(class, of uint32, name string) uint32 {
	typ := m.pointer(class, of)
	id := m.id()
	m.globals = add(m.globals, opVariable, typ, id, class)
	m.name(id, name)
	return id
}

// builtIn returns the variable with the three indices of a built-in value, such as the index of the
// thread in its block.
func (m *module) builtIn(which uint32, name string) uint32 {
	return m.shared(func() uint32 {
		id := m.variable(classInput, m.vector(m.integer(32), 3), name)
		m.decorate(id, decorationBuiltIn, which)
		return id
	}, "built-in", which)
}

// push returns the variable that holds the address of the arguments.
func (m *module) push() uint32 {
	return m.shared(func() uint32 {
		block := m.structure([]uint32{m.halves()}, []string{"arguments"}, "Push")
		return m.variable(classPushConstant, block, "push")
	}, "push")
}

// structure returns a new type of members that are 8 bytes apart. names may be shorter than members.
func (m *module) structure(members []uint32, names []string, name string) uint32 {
	id := m.id()
	m.globals = add(m.globals, opTypeStruct, append([]uint32{id}, members...)...)
	m.name(id, name)
	m.decorate(id, decorationBlock)
	for i := range members {
		m.decorations = add(m.decorations, opMemberDecorate, id, uint32(i), decorationOffset, uint32(8*i))
	}
	for i, n := range names {
		m.names = add(m.names, opMemberName, append([]uint32{id, uint32(i)}, text(n)...)...)
	}
	return id
}

// elements returns the type of global memory as an array. Its elements have type elem and are `size` bytes apart. It
// is a structure, as SPIR-V requires.
func (m *module) elements(elem uint32, size int) uint32 {
	return m.shared(func() uint32 {
		array := m.typ(opTypeRuntimeArray, elem)
		m.decorate(array, decorationArrayStride, uint32(size))
		return m.structure([]uint32{array}, nil, "")
	}, "elements", elem)
}

func (m *module) extended() uint32 {
	if m.glsl == 0 {
		m.glsl = m.id()
	}
	return m.glsl
}
