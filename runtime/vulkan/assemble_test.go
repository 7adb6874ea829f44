package vulkan

import (
	"encoding/binary"
	"fmt"
)

// assembler writes a module of SPIR-V 1.5 with several kernels.
type assembler struct {
	next                                                             uint32
	capabilities, entries, modes, decorations, declarations, kernels []uint32
	known                                                            map[string]uint32
	u32, pair, f32, void, bool, function                             uint32 // types; pair holds the halves of 64 bits
	push, invocation                                                 uint32 // variables
}

func instruction(op uint32, operands ...uint32) []uint32 {
	return append([]uint32{uint32(len(operands)+1)<<16 | op}, operands...)
}

func text(s string) []uint32 {
	words := make([]uint32, len(s)/4+1)
	for i := range len(s) {
		words[i/4] |= uint32(s[i]) << (i % 4 * 8)
	}
	return words
}

func newAssembler(capabilities ...uint32) *assembler {
	a := &assembler{known: map[string]uint32{}}
	for _, c := range append([]uint32{1, 5347}, capabilities...) { // Shader, PhysicalStorageBufferAddresses
		a.capabilities = append(a.capabilities, instruction(17, c)...)
	}
	a.void, a.bool = a.declare(19), a.declare(20)
	a.u32, a.f32 = a.declare(21, 32, 0), a.declare(22, 32)
	a.pair = a.declare(23, a.u32, 2)
	a.function = a.declare(33, a.void)

	block := a.declare(30, a.pair)
	a.decorations = append(a.decorations, instruction(71, block, 2)...)
	a.decorations = append(a.decorations, instruction(72, block, 0, 35, 0)...)
	a.push = a.variable(9, block)
	a.invocation = a.variable(1, a.declare(23, a.u32, 3))
	a.decorations = append(a.decorations, instruction(71, a.invocation, 11, 28)...)
	return a
}

func (a *assembler) id() uint32 {
	a.next++
	return a.next
}

// declare returns a type or another declaration whose result is its first operand.
func (a *assembler) declare(op uint32, operands ...uint32) uint32 {
	key := fmt.Sprint(op, operands)
	if id, ok := a.known[key]; ok {
		return id
	}
	id := a.id()
	a.known[key] = id
	a.declarations = append(a.declarations, instruction(op, append([]uint32{id}, operands...)...)...)
	return id
}

func (a *assembler) pointer(class, to uint32) uint32 { return a.declare(32, class, to) }

func (a *assembler) variable(class, of uint32) uint32 {
	t := a.pointer(class, of)
	id := a.id()
	a.declarations = append(a.declarations, instruction(59, t, id, class)...)
	return id
}

// constant returns a constant of a type, whose value has one word or two.
func (a *assembler) constant(of uint32, value ...uint32) uint32 {
	key := fmt.Sprint("constant", of, value)
	if id, ok := a.known[key]; ok {
		return id
	}
	id := a.id()
	a.known[key] = id
	a.declarations = append(a.declarations, instruction(43, append([]uint32{of, id}, value...)...)...)
	return id
}

// kernelText is the body of a kernel that is being written.
type kernelText struct {
	*assembler
	body      []uint32
	arguments uint32 // halves of the address of the argument block
	index     uint32 // of the invocation, in the first dimension
}

// kernel adds a kernel of 64 threads, or of another block.
func (a *assembler) kernel(name string, block [3]uint32, write func(k *kernelText)) {
	main := a.id()
	a.entries = append(a.entries, instruction(15, append(append([]uint32{5, main}, text(name)...), a.push, a.invocation)...)...)
	a.modes = append(a.modes, instruction(16, main, 17, block[0], block[1], block[2])...)
	k := &kernelText{assembler: a}
	k.do(54, a.void, main, 0, a.function)
	k.do(248, a.id())
	k.arguments = k.op(61, a.pair, k.op(65, a.pointer(9, a.pair), a.push, a.constant(a.u32, 0)))
	k.index = k.op(81, a.u32, k.op(61, a.declare(23, a.u32, 3), a.invocation), 0)
	write(k)
	k.do(253)
	k.do(56)
	a.kernels = append(a.kernels, k.body...)
}

func (k *kernelText) do(op uint32, operands ...uint32) {
	k.body = append(k.body, instruction(op, operands...)...)
}

func (k *kernelText) op(op, of uint32, operands ...uint32) uint32 {
	id := k.id()
	k.do(op, append([]uint32{of, id}, operands...)...)
	return id
}

// argument returns the halves of an argument.
func (k *kernelText) argument(i int) uint32 {
	return k.load(k.pair, k.element(k.pair, 8, k.arguments, k.constant(k.u32, uint32(i))), 8)
}

// number returns the low half of an argument.
func (k *kernelText) number(i int) uint32 { return k.op(81, k.u32, k.argument(i), 0) }

// array returns the type of an array of elements of a type and a size, as a structure with it.
func (a *assembler) array(of, size uint32) uint32 {
	_, isKnown := a.known[fmt.Sprint(29, []uint32{of})]
	array := a.declare(29, of)
	block := a.declare(30, array)
	if !isKnown {
		a.decorations = append(a.decorations, instruction(71, array, 6, size)...)
		a.decorations = append(a.decorations, instruction(71, block, 2)...)
		a.decorations = append(a.decorations, instruction(72, block, 0, 35, 0)...)
	}
	return block
}

// element returns a pointer to an element of an array whose address has the halves base.
func (k *kernelText) element(of, size, base, index uint32) uint32 {
	array := k.op(124, k.pointer(5349, k.array(of, size)), base)
	return k.op(65, k.pointer(5349, of), array, k.constant(k.u32, 0), index)
}

// word returns a pointer to an element of an array of u32 or f32.
func (k *kernelText) word(of, base, index uint32) uint32 { return k.element(of, 4, base, index) }

func (k *kernelText) load(of, at, align uint32) uint32 { return k.op(61, of, at, 2, align) }

func (k *kernelText) store(at, value, align uint32) { k.do(62, at, value, 2, align) }

// guarded writes what invocations do whose index is less than a bound.
func (k *kernelText) guarded(bound uint32, write func()) {
	then, end := k.id(), k.id()
	less := k.op(176, k.bool, k.index, bound)
	k.do(247, end, 0)
	k.do(250, less, then, end)
	k.do(248, then)
	write()
	k.do(249, end)
	k.do(248, end)
}

// repeat writes a loop that replaces a 32-bit value n times, and returns the last value.
func (k *kernelText) repeat(n, value uint32, next func(uint32) uint32) uint32 {
	before, head, body, again, end := k.id(), k.id(), k.id(), k.id(), k.id()
	i, more, v, w := k.id(), k.id(), k.id(), k.id()
	k.do(249, before)
	k.do(248, before)
	k.do(249, head)
	k.do(248, head)
	k.do(245, k.u32, i, k.constant(k.u32, 0), before, more, again)
	k.do(245, k.u32, v, value, before, w, again)
	less := k.op(176, k.bool, i, n)
	k.do(246, end, again, 0)
	k.do(250, less, body, end)
	k.do(248, body)
	result := next(v)
	k.do(249, again)
	k.do(248, again)
	k.do(128, k.u32, more, i, k.constant(k.u32, 1))
	k.do(83, k.u32, w, result)
	k.do(249, head)
	k.do(248, end)
	return v
}

// code returns the module.
func (a *assembler) code() []byte {
	words := []uint32{0x07230203, 0x00010500, 0, a.next + 1, 0}
	words = append(words, a.capabilities...)
	words = append(words, instruction(14, 5348, 1)...) // PhysicalStorageBuffer64, GLSL450
	for _, part := range [][]uint32{a.entries, a.modes, a.decorations, a.declarations, a.kernels} {
		words = append(words, part...)
	}
	var code []byte
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return code
}

// The kernels of the tests, by name, with the number of their arguments.
var testKernels = map[string]int{"add": 4, "sum20": 20, "count": 2, "spin": 2, "nothing": 0}

var testBlock = [3]uint32{64, 1, 1}

// testModule has the kernels
//
//	add(z, x, y, n):  z[i] = x[i] + y[i] in float32, for i < n
//	sum20(z, a1 … a19): z[0], z[1] = the sum of k*a_k, in uint32, of the low and the high halves
//	count(x, n):      x[i]++ in uint32, for i < n
//	spin(x, n):       x[i] = n numbers further of a linear congruential generator
//	nothing()
func testModule() []byte {
	a := newAssembler()
	a.kernel("add", testBlock, func(k *kernelText) {
		k.guarded(k.number(3), func() {
			x := k.load(k.f32, k.word(k.f32, k.argument(1), k.index), 4)
			y := k.load(k.f32, k.word(k.f32, k.argument(2), k.index), 4)
			k.store(k.word(k.f32, k.argument(0), k.index), k.op(129, k.f32, x, y), 4)
		})
	})
	a.kernel("sum20", [3]uint32{1, 1, 1}, func(k *kernelText) {
		sum := k.op(80, k.pair, k.constant(k.u32, 0), k.constant(k.u32, 0))
		for i := 1; i < 20; i++ {
			factor := k.constant(k.u32, uint32(i))
			sum = k.op(128, k.pair, sum, k.op(132, k.pair, k.argument(i), k.op(80, k.pair, factor, factor)))
		}
		k.store(k.element(k.pair, 8, k.argument(0), k.constant(k.u32, 0)), sum, 8)
	})
	a.kernel("count", testBlock, func(k *kernelText) {
		k.guarded(k.number(1), func() {
			at := k.word(k.u32, k.argument(0), k.index)
			k.store(at, k.op(128, k.u32, k.load(k.u32, at, 4), k.constant(k.u32, 1)), 4)
		})
	})
	a.kernel("spin", testBlock, func(k *kernelText) {
		at := k.word(k.u32, k.argument(0), k.index)
		last := k.repeat(k.number(1), k.load(k.u32, at, 4), func(v uint32) uint32 {
			return k.op(128, k.u32, k.op(132, k.u32, v, k.constant(k.u32, 1664525)), k.constant(k.u32, 1013904223))
		})
		k.store(at, last, 4)
	})
	a.kernel("nothing", testBlock, func(*kernelText) {})
	return a.code()
}

// spun is what the kernel spin makes of a number.
func spun(x uint32, n int) uint32 {
	for range n {
		x = x*1664525 + 1013904223
	}
	return x
}
