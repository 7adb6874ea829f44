package kernel

import (
	"github.com/burngen/burngen/ir"
)

// Kernel is a function that each thread of a grid runs. A grid consists of blocks. A block consists
// of threads, which share memory and meet at barriers.
type Kernel struct {
	// Name is an identifier: letters, digits and underscores.
	Name string
	// Doc is one line that says what the kernel computes. It may be "".
	Doc string
	// Params are pointers to global memory, and scalars of 4 or 8 bytes.
	Params []*Value
	// Block is the number of threads of a block in each dimension.
	Block [3]int
	// Shared are arrays in the memory that the threads of a block share, and phase barriers. The
	// contents of arrays are undefined when a block starts.
	Shared []*Value
	// Sums are the sums of groups, see [MultiplyTiles].
	Sums []*Value
	// Early says that a device may start the kernel while the launch before it runs. The kernel waits for that launch before
	// it reads or writes global memory. Only pipelined kernels can be early.
	Early bool
	Body  *Block
}

// Space is the memory that a pointer points to.
type Space uint8

// The memory spaces. A scalar has NoSpace.
const (
	NoSpace Space = iota
	Global        // memory of the device, which all threads see
	Shared        // memory of a block
	Mapped        // a tensor in global memory, of which boxes are copied, see [Map]
	Phases        // phase barriers of a block, see [Arrive]
	Sums          // sums that the threads of a group hold together, see [MultiplyTiles]
)

// Type is the type of a value: a scalar, or a pointer to elements in a space.
type Type struct {
	DType ir.DType
	Space Space
}

// Value is a value of a kernel: a parameter, an array in shared memory, a parameter of a block of
// instructions, or a result of an instruction.
type Value struct {
	Name string
	Type Type
	// Len is the number of elements of an array in shared memory, the number of phase barriers, or the
	// number of columns of sums. It is 0 for other values.
	Len int
	// Arrivals is the number of arrivals that complete a phase of a phase barrier. It is 0 for other values.
	Arrivals int
	// Map describes the tensor of a parameter in the space Mapped. It is nil for other values.
	Map *Map
	// Written says that a kernel stores to the memory of a pointer parameter or a shared array.
	Written bool
	// Def is the instruction that computes the value. It is nil for parameters and arrays.
	Def *Instr
}

// Const returns the bits of v if v is a constant. Otherwise ok is false.
func (v *Value) Const() (bits uint64, ok bool) {
	if v.Def == nil || v.Def.Op != Const {
		return 0, false
	}
	return v.Def.Bits, true
}

// Block is the body of a kernel, or of an instruction such as a loop. Yields are the values that the block passes
// to the instruction when the block ends.
type Block struct {
	Params []*Value
	Instrs []*Instr
	Yields []*Value
}

// Instr is an instruction.
type Instr struct {
	Op      Op
	Args    []*Value
	Results []*Value
	// Bits is the value of a constant, in the low bytes. The other bits are 0.
	Bits uint64
	// Dim is the dimension, 0 to 2, of the index of a thread or block.
	Dim int
	// Count is the number of groups of products in a [Drain], of registers in a [Registers], the index of
	// a [Sum] or [SetSum], or the distance of threads in a [Shuffle].
	Count int
	// AcrossA and AcrossB say where a [MultiplyTiles] finds its elements, and AcrossB where a [MultiplyHeld] does.
	AcrossA, AcrossB bool
	// Unroll is the number of iterations of a [For] to write out one after the other. 0 and 1 leave
	// the loop as it is.
	Unroll int
	// Blocks are the bodies of control flow, see [For], [If] and [While].
	Blocks []*Block
}
