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
	u32, u64, f32, void, bool, function                              uint32
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
	for _, c := range append([]uint32{1, 11, 5347}, capabilities...) { // Shader, Int64, PhysicalStorageBufferAddresses
		a.capabilities = append(a.capabilities, instruction(17, c)...)
	}
	a.void, a.bool = a.declare(19), a.declare(20)
	a.u32, a.u64, a.f32 = a.declare(21, 32, 0), a.declare(21, 64, 0), a.declare(22, 32)
	a.function = a.declare(33, a.void)

	block := a.declare(30, a.u64)
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
	arguments uint32 // address of the argument block
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
	k.arguments = k.op(61, a.u64, k.op(65, a.pointer(9, a.u64), a.push, a.constant(a.u32, 0)))
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

// argument returns an argument.
func (k *kernelText) argument(i int) uint32 {
	return k.load(k.u64, k.op(128, k.u64, k.arguments, k.constant(k.u64, uint32(8*i), 0)), 8)
}

// element returns the address of an element of 4 bytes.
func (k *kernelText) element(base, index uint32) uint32 {
	offset := k.op(132, k.u64, k.op(113, k.u64, index), k.constant(k.u64, 4, 0))
	return k.op(128, k.u64, base, offset)
}

func (k *kernelText) load(of, address, align uint32) uint32 {
	return k.op(61, of, k.op(120, k.pointer(5349, of), address), 2, align)
}

func (k *kernelText) store(of, address, value, align uint32) {
	k.do(62, k.op(120, k.pointer(5349, of), address), value, 2, align)
}

// guarded writes what invocations do whose index is less than a bound of 64 bits.
func (k *kernelText) guarded(bound uint32, write func()) {
	then, end := k.id(), k.id()
	less := k.op(176, k.bool, k.op(113, k.u64, k.index), bound)
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
	k.do(245, k.u64, i, k.constant(k.u64, 0, 0), before, more, again)
	k.do(245, k.u32, v, value, before, w, again)
	less := k.op(176, k.bool, i, n)
	k.do(246, end, again, 0)
	k.do(250, less, body, end)
	k.do(248, body)
	result := next(v)
	k.do(249, again)
	k.do(248, again)
	k.do(128, k.u64, more, i, k.constant(k.u64, 1, 0))
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
//	sum20(z, a1 … a19): z[0] = the sum of k*a_k, in uint64
//	count(x, n):      x[i]++ in uint32, for i < n
//	spin(x, n):       x[i] = n numbers further of a linear congruential generator
//	nothing()
func testModule() []byte {
	a := newAssembler()
	a.kernel("add", testBlock, func(k *kernelText) {
		k.guarded(k.argument(3), func() {
			x := k.load(k.f32, k.element(k.argument(1), k.index), 4)
			y := k.load(k.f32, k.element(k.argument(2), k.index), 4)
			k.store(k.f32, k.element(k.argument(0), k.index), k.op(129, k.f32, x, y), 4)
		})
	})
	a.kernel("sum20", [3]uint32{1, 1, 1}, func(k *kernelText) {
		sum := k.constant(k.u64, 0, 0)
		for i := 1; i < 20; i++ {
			sum = k.op(128, k.u64, sum, k.op(132, k.u64, k.argument(i), k.constant(k.u64, uint32(i), 0)))
		}
		k.store(k.u64, k.argument(0), sum, 8)
	})
	a.kernel("count", testBlock, func(k *kernelText) {
		k.guarded(k.argument(1), func() {
			at := k.element(k.argument(0), k.index)
			k.store(k.u32, at, k.op(128, k.u32, k.load(k.u32, at, 4), k.constant(k.u32, 1)), 4)
		})
	})
	a.kernel("spin", testBlock, func(k *kernelText) {
		at := k.element(k.argument(0), k.index)
		last := k.repeat(k.argument(1), k.load(k.u32, at, 4), func(v uint32) uint32 {
			return k.op(128, k.u32, k.op(132, k.u32, v, k.constant(k.u32, 1664525)), k.constant(k.u32, 1013904223))
		})
		k.store(k.u32, at, last, 4)
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
