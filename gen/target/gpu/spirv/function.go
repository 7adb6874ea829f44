package spirv

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

type function struct {
	*module
	Options
	k     *kernel.Kernel
	ids   map[*kernel.Value]uint32
	cells map[*kernel.Value]cell // how shared arrays are accessed
	args  uint32                 // pointer to the arguments, or 0
	// bases holds pointers to the first element of global arrays, by the array and the type of an element.
	bases map[base]uint32
	skips map[*kernel.Value]uint32 // how many narrow elements before each array are in its first word

	entry []uint32 // what the function computes first
	code  []uint32 // the instructions after it
	block uint32   // the label of the current block

	variables []uint32        // the variables of the module that the function uses
	widths    map[uint32]bool // widths of the floats that it computes with
}

func newFunction(m *module, k *kernel.Kernel, o Options) *function {
	f := &function{
		module: m, Options: o, k: k,
		ids: map[*kernel.Value]uint32{}, cells: map[*kernel.Value]cell{}, bases: map[base]uint32{},
		skips: map[*kernel.Value]uint32{}, widths: map[uint32]bool{},
	}
	f.measure(k.Body)
	return f
}

func (f *function) write() {
	void := f.typ(opTypeVoid)
	typ := f.typ(opTypeFunction, void)
	id := f.id()
	f.name(id, f.k.Name)
	if f.k.Doc != "" {
		name := f.id()
		f.sources = add(f.sources, opString, append([]uint32{name}, text(f.k.Name)...)...)
		f.sources = add(f.sources, opSource, append([]uint32{0, 0, name}, text(f.k.Doc)...)...)
	}
	first := f.id()
	f.block = first
	f.instructions(f.k.Body)

	f.functions = add(f.functions, opFunction, void, id, 0, typ)
	f.functions = add(f.functions, opLabel, first)
	f.functions = append(append(f.functions, f.entry...), f.code...)
	f.functions = add(f.functions, opReturn)
	f.functions = add(f.functions, opFunctionEnd)

	entry := append([]uint32{modelGLCompute, id}, text(f.k.Name)...)
	f.entries = add(f.entries, opEntryPoint, append(entry, f.variables...)...)
	f.modes = add(f.modes, opExecutionMode, id, modeLocalSize,
		uint32(f.k.Block[0]), uint32(f.k.Block[1]), uint32(f.k.Block[2]))
	if f.widths[32] && !f.Loose {
		f.modes = add(f.modes, opExecutionMode, id, modeDenormPreserve, 32)
		f.modes = add(f.modes, opExecutionMode, id, modeRoundingModeRTE, 32)
	}
	for _, width := range []uint32{32, 64} {
		if f.widths[width] && !f.Loose {
			f.modes = add(f.modes, opExecutionMode, id, modeSignedZeroInfNanPreserve, width)
		}
	}
}

func (f *function) do(op uint32, operands ...uint32) { f.code = add(f.code, op, operands...) }

func (f *function) value(op, typ uint32, operands ...uint32) uint32 {
	id := f.id()
	f.do(op, append([]uint32{typ, id}, operands...)...)
	return id
}

// first calls the function `compute`, and puts the instructions that it makes at the start of f, so that every block
// may use the result.
func (f *function) first(compute func() uint32) uint32 {
	code := f.code
	f.code = f.entry
	id := compute()
	f.entry, f.code = f.code, code
	return id
}

func (f *function) uses(variable uint32) uint32 {
	if !slices.Contains(f.variables, variable) {
		f.variables = append(f.variables, variable)
	}
	return variable
}

func (f *function) floats(d ir.DType) {
	f.widths[uint32(d.Bits())] = true
	if !f.Loose {
		if d == ir.F64 {
			f.need("shaderSignedZeroInfNanPreserveFloat64")
		} else {
			f.need("shaderDenormPreserveFloat32")
			f.need("shaderRoundingModeRTEFloat32")
			f.need("shaderSignedZeroInfNanPreserveFloat32")
		}
	}
}

// of returns the id of a value. It loads an argument when it is first used.
func (f *function) of(v *kernel.Value) uint32 {
	if id, ok := f.ids[v]; ok {
		return id
	}
	f.set(v, f.first(func() uint32 {
		x := f.argument(v)
		if v.Type.DType.IsInt() && v.Type.DType.Bits() == 64 {
			return f.value(opBitcast, f.integer(64), x)
		}
		return x
	}))
	return f.ids[v]
}

func (f *function) all(values []*kernel.Value) []uint32 {
	ids := make([]uint32, len(values))
	for i, v := range values {
		ids[i] = f.of(v)
	}
	return ids
}

func (f *function) set(v *kernel.Value, id uint32) {
	f.ids[v] = id
	_, isConst := v.Const()
	if v.Name != "" && (v.Name[0] < '0' || v.Name[0] > '9') && !isConst {
		f.name(id, v.Name)
	}
}

// argument loads the argument of a parameter and returns it, in the type in which it is stored. It fails if v is
// not a parameter.
func (f *function) argument(v *kernel.Value) uint32 {
	i := slices.Index(f.k.Params, v)
	if i < 0 {
		fail("%s is used before it has a value", v.Name)
	}
	if f.args == 0 {
		var types []uint32
		var names []string
		for _, p := range f.k.Params {
			types = append(types, f.parameter(p))
			names = append(names, p.Name)
		}
		block := f.structure(types, names, f.k.Name+".Arguments")
		at := f.value(opAccessChain, f.pointer(classPushConstant, f.halves()), f.uses(f.push()), f.word(0))
		f.args = f.value(opBitcast, f.pointer(classPhysicalStorageBuffer, block), f.value(opLoad, f.halves(), at))
	}
	typ := f.parameter(v)
	at := f.value(opAccessChain, f.pointer(classPhysicalStorageBuffer, typ), f.args, f.word(uint32(i)))
	return f.value(opLoad, typ, at, accessAligned, 8)
}

func (f *function) parameter(p *kernel.Value) uint32 {
	d := p.Type.DType
	switch {
	case p.Type.Space == kernel.Global:
		return f.halves()
	case p.Type.Space != kernel.NoSpace, !kernel.IsArithmetic(d), d == ir.Bool:
		fail("the parameter %s is %s", p.Name, p.Type)
	case d.IsInt() && d.Bits() == 64:
		return f.halves()
	}
	return f.register(d)
}

func (f *function) index(in *kernel.Instr) uint32 {
	variable, name := uint32(builtInLocalInvocationID), "thread"
	if in.Op == kernel.BlockIdx {
		variable, name = builtInWorkgroupID, "block"
	}
	return f.first(func() uint32 {
		all := f.value(opLoad, f.vector(f.integer(32), 3), f.uses(f.builtIn(variable, name)))
		return f.value(opCompositeExtract, f.integer(32), all, uint32(in.Dim))
	})
}

func (f *function) instructions(b *kernel.Block) {
	for _, in := range b.Instrs {
		results := f.instruction(in)
		if len(results) != len(in.Results) {
			fail("%s gives %d values, not %d", in.Op, len(results), len(in.Results))
		}
		for i, r := range in.Results {
			f.set(r, results[i])
		}
	}
}

func (f *function) instruction(in *kernel.Instr) []uint32 {
	switch in.Op {
	case kernel.Const:
		return []uint32{f.constant(in.Results[0].Type.DType, in.Bits)}
	case kernel.ThreadIdx, kernel.BlockIdx:
		return []uint32{f.index(in)}
	case kernel.Select:
		return []uint32{f.choose(in.Results[0].Type.DType, f.of(in.Args[0]), f.of(in.Args[1]), f.of(in.Args[2]))}
	case kernel.Convert:
		return []uint32{f.convert(in.Results[0].Type.DType, in.Args[0].Type.DType, f.of(in.Args[0]))}
	case kernel.Bitcast:
		return []uint32{f.bitcast(in.Results[0].Type.DType, in.Args[0].Type.DType, f.of(in.Args[0]))}
	case kernel.Split:
		return f.split(in.Args[0])
	case kernel.Load:
		return f.load(in.Args[0], in.Args[1], len(in.Results))
	case kernel.Store:
		f.store(in.Args[0], in.Args[1], f.all(in.Args[2:]))
		return nil
	case kernel.AtomicAdd, kernel.AtomicMin, kernel.AtomicMax, kernel.AtomicAnd, kernel.AtomicOr, kernel.AtomicXchg, kernel.AtomicCAS:
		return []uint32{f.atomic(in)}
	case kernel.Barrier:
		f.do(opControlBarrier, f.word(scopeWorkgroup), f.word(scopeWorkgroup),
			f.word(semanticsAcquireRelease|semanticsUniformMemory|semanticsWorkgroupMemory))
		return nil
	case kernel.MatMulAdd:
		fail("%s: a module multiplies no matrices", in.Op)
	case kernel.For:
		return f.count(in)
	case kernel.If:
		return f.branch(in)
	case kernel.While:
		return f.while(in)
	}
	return []uint32{f.compute(in)}
}
