package kernel

import "github.com/burngen/burngen/ir"

// Op is the operation of an instruction.
//
// Operations compute with bool, i32, u32, i64, u64, f32 and f64. Values of other types ([IsStorage]) can only be
// moved and converted.
type Op uint8

// The operations of instructions. In their comments, x, y and z are the operands.
const (
	NoOp Op = iota

	Const     // the value with the bits Bits
	ThreadIdx // i32: the index of the thread in its block, in dimension Dim
	BlockIdx  // i32: the index of the block in the grid, in dimension Dim

	// Arithmetic on two operands of one type.
	Add // x + y; integers wrap
	Sub // x − y
	Mul // x · y
	Div // x / y. Integers truncate; the quotient by 0 is undefined. The error of floats is at most 2.5 units in the last place
	Rem // remainder of the truncated quotient of integers, with the sign of x
	Min // the smaller of x and y; for floats, x if x < y, else y
	Max // the greater of x and y; for floats, x if x > y, else y
	And // x & y, bitwise; for bools, x && y
	Or
	Xor
	Shl // x shifted left by y bits; y is less than the width
	Shr // x shifted right by y bits; signed integers keep their sign

	// Arithmetic on one operand.
	Neg   // −x
	Abs   // |x|
	Not   // ^x, the bitwise complement; for a bool, !x
	Sqrt  // √x of floats, with an error of at most 3 units in the last place
	Floor // largest integer that is at most the float x
	Ceil
	Trunc
	Round // to the nearest integer, ties to even

	Fma // x · y + z of floats, rounded once or twice

	// Fast arithmetic on f32. It is less precise than other operations, or has other rules for NaN.
	Exp2    // 2^x, with a relative error of at most 2⁻²². An operand or result smaller than the smallest normal number may count as 0
	Greater // the greater of x and y; if one of them is NaN, the other. −0 and 0 are equal, and either may be the result

	// Comparisons of two operands of one type. The result is a bool. If an operand is NaN, Ne is
	// true and the others are false.
	Eq
	Ne
	Lt
	Le
	Gt
	Ge

	Select  // y if the bool x, else z
	Convert // x in the type of the result. A float is truncated to an integer and clamped to its range; NaN becomes 0. Integers wrap. A bool becomes 0 or 1. A number becomes the bool x ≠ 0
	Bitcast // the bits of x as another type of the same width
	Split   // the bits of x, of 64 bits, as two u32: the low and the high half
	Join    // the bits of x and y, of 16 bits each, as a u32: x is the low half, and y the high half

	// Operations on memory. p is a pointer. i, an i32 or i64, is the index of the first element that the operation
	// reads or writes.
	Load      // p, i: reads n adjacent elements, one for each result; n is 1, 2, 4, 8 or 16. If n > 1, i is a multiple of n, and the n elements together have at most 16 bytes
	Store     // p, i, values…: stores adjacent elements, as Load reads them
	AtomicAdd // p, i, x: adds x to an element of i32, u32, i64 or u64, and returns the old element
	AtomicMin // p, i, x: stores the smaller of x and the element, and returns the old element
	AtomicMax // p, i, x: stores the greater of x and the element, and returns the old element
	AtomicAnd // p, i, x: stores the bitwise and of x and the element, and returns the old element
	AtomicOr
	AtomicXchg // p, i, x: replaces the element by x, and returns the old element
	AtomicCAS  // p, i, x, y: replaces the element by y if it equals x, and returns the old element

	// MatMulAdd returns a·b + c. a is [16,K], b [K,8] and c [16,8], all in row-major order. Each warp of a block
	// computes one such product. A warp is the 32 threads 32·w to 32·w+31 of the block, in the order x, y, z. Each
	// thread holds some elements of a, b and c, which are its operands, and some of the result, which are its
	// results. All threads of the block carry out the operation at once. a and b are f16 or bf16 with K = 16, or
	// f32 with K = 8; of an f32 only the upper 19 bits are used. c and the result are f32. Terms are added in any
	// order. Thread t of a warp, with g = t / 4 and i = t % 4, holds the elements (row, column)
	//   - of a, 16 bits: (g, 2i), (g, 2i+1), (g+8, 2i), (g+8, 2i+1), and the same with column + 8
	//   - of b, 16 bits: (2i, g), (2i+1, g), and the same with row + 8
	//   - of a, f32: (g, i), (g+8, i), (g, i+4), (g+8, i+4)
	//   - of b, f32: (i, g), (i+4, g)
	//   - of c and the result: (g, 2i), (g, 2i+1), (g+8, 2i), (g+8, 2i+1)
	MatMulAdd

	// Shuffle exchanges values between the threads of a warp: thread t gets the operand of thread t XOR Count. The
	// operand is a value of 32 bits. Count, a field of the instruction, is from 1 to 31. All threads of the warp
	// carry out the operation at once.
	Shuffle

	// GroupIdx is an i32: the index of the thread's group in its block. The threads 128·g to 128·g+127 of a
	// block are group g.
	GroupIdx
	// GroupBarrier waits for all threads of the group. After the barrier, each of these threads sees what any of them
	// wrote to memory before the barrier.
	GroupBarrier
	// Registers is a hint: from here on, a thread of the group needs at most Count registers. All threads of the
	// group execute the hint together.
	Registers

	// Arrive and Await use phase barriers. A phase barrier runs through phases, and counts arrivals and copied
	// bytes in each. A phase is complete when as many threads as [Value.Arrivals] have arrived, and when all bytes
	// that they expect have been copied. The next phase begins then. Phases have the numbers 0, 1, 0, 1 and so on.
	// In the operands, b is an array of phase barriers, and i is the index of one, an i32.
	Arrive // b, i, n: arrives at the barrier; n is an i32, the number of bytes that the phase expects besides. It may be missing
	Await  // b, i, n: waits until phase n is complete. n is an i32, 0 or 1. Before the first phase, phase 1 counts as complete

	// CopyBox copies a box of a tensor to shared memory, as [Map] describes. Its operands are the following; all
	// indices are i32.
	//
	//   - an array p, and an index i: the box is stored from element i of p on, whose offset must be a multiple of
	//     1024 bytes
	//   - the map
	//   - an array b of phase barriers, and an index j
	//   - where the box is in the tensor. For a map without [Windows], these are the indices of the box's first
	//     element, one for each axis. For a map with Windows, they are the image, the place of the first window on each
	//     spatial axis, the first channel, and the offset of the cell in its window on each spatial axis
	//
	// CopyBox does not wait for the copy. The bytes of the copy belong to the current phase of barrier j of b. The
	// copy may take place at any time before this phase is complete. A thread that has waited for the phase sees the
	// copied elements.
	CopyBox

	// MultiplyTiles adds a·b to the sums of a group of 128 threads, or replaces the sums by a·b if the bool keep is
	// false. a is [64,K] and b [K,N]. The sums are f32[64,N], where N is the number of columns of the sums. K is 16
	// for f16 and bf16, and 8 for f32; of an f32 only the upper 19 bits are used. The operands are
	//
	//   - the array in shared memory that holds a, and the index of a's first element
	//   - the array in shared memory that holds b, and the index of b's first element
	//   - the sums, and keep
	//
	// The elements are in memory as [CopyBox] stores boxes. Row 0 begins at the first element, and each row has 128
	// bytes. Without the swizzle,
	//   - element (m,k) of a is element k of row m, or element m of row k if AcrossA is true
	//   - element (k,n) of b is element k of row n, or element n%64 of row 64·(n/64)+k if AcrossB is true
	//
	// AcrossA and AcrossB are false for f32. All threads of the group carry out the operation at once. The
	// operation does not wait for the product. Until the product is done, a and b must not be changed, and the sums
	// must not be read; see [Drain]. Thread t of the group, with w = t / 32, g = t % 32 / 4 and q = t % 4, holds
	// the elements (16·w+g+8·h, 8·j+2·q+c) of the sums, with the index 4·j+2·h+c, for c and h in 0 and 1.
	MultiplyTiles
	// MultiplyHeld is MultiplyTiles with a in the registers of the threads. The elements of a and b are f16 or bf16.
	// The operands are the array in shared memory that holds b, the index of b's first element, the sums, keep, and
	// four u32. A u32 holds two adjacent elements of a row of a, the left one in its low half. Thread t of the group,
	// with w, g and q as in MultiplyTiles, holds the elements (16·w+g+8·h, 2·q+8·c) and (16·w+g+8·h, 2·q+8·c+1) in
	// u32 number 2·c+h. The thread holds the sums as in MultiplyTiles. In columns 16·i to 16·i+15 of the sums, for
	// each i, it holds elements at the same places as in a.
	MultiplyHeld
	SetSum // s, x: replaces the sum with the index Count of the sums that the thread holds by the f32 x. No product that adds to s may be in flight
	Commit // makes a group of the products since the last Commit
	Drain  // waits until at most Count groups of products are not done
	Sum    // s: the f32 with the index Count of the sums that the thread holds

	Barrier // waits for all threads of the block; memory they wrote before is visible after it

	// Control flow. The results are the values that the blocks yield.
	For   // lo, hi, step, carried…: i32; Blocks[0](i, carried…) yields the next carried…, for i = lo, lo+step … < hi; step > 0
	If    // the bool x: Blocks[0] if it is true, else Blocks[1]; both yield the results
	While // carried…: Blocks[0](carried…) yields a bool; while it is true, Blocks[1](carried…) yields the next carried…

	numOps
)

// kind is a class of operations that have the same kinds of operands and results.
type kind uint8

const (
	special    kind = iota
	binary          // two operands and a result of one arithmetic type
	unary           // one operand and a result of one arithmetic type
	ternary         // three operands and a result of one arithmetic type
	comparison      // two operands of one arithmetic type; the result is a bool
	atomic          // a pointer, an index and values; the result is the old element
	control
)

// on says for which classes of element types an operation is defined. It is a set of bits.
type on uint8

const (
	ints on = 1 << iota
	floats
	bools
	numbers = ints | floats
)

var ops = [numOps]struct {
	name string
	kind kind
	on   on
}{
	NoOp:          {"", special, 0},
	Const:         {"const", special, 0},
	ThreadIdx:     {"thread", special, 0},
	BlockIdx:      {"block", special, 0},
	Add:           {"add", binary, numbers},
	Sub:           {"sub", binary, numbers},
	Mul:           {"mul", binary, numbers},
	Div:           {"div", binary, numbers},
	Rem:           {"rem", binary, ints},
	Min:           {"min", binary, numbers},
	Max:           {"max", binary, numbers},
	And:           {"and", binary, ints | bools},
	Or:            {"or", binary, ints | bools},
	Xor:           {"xor", binary, ints | bools},
	Shl:           {"shl", binary, ints},
	Shr:           {"shr", binary, ints},
	Neg:           {"neg", unary, numbers},
	Abs:           {"abs", unary, numbers},
	Not:           {"not", unary, ints | bools},
	Sqrt:          {"sqrt", unary, floats},
	Floor:         {"floor", unary, floats},
	Ceil:          {"ceil", unary, floats},
	Trunc:         {"trunc", unary, floats},
	Round:         {"round", unary, floats},
	Fma:           {"fma", ternary, floats},
	Exp2:          {"exp2", special, 0},
	Greater:       {"greater", special, 0},
	Eq:            {"eq", comparison, numbers | bools},
	Ne:            {"ne", comparison, numbers | bools},
	Lt:            {"lt", comparison, numbers},
	Le:            {"le", comparison, numbers},
	Gt:            {"gt", comparison, numbers},
	Ge:            {"ge", comparison, numbers},
	Select:        {"select", special, 0},
	Convert:       {"convert", special, 0},
	Bitcast:       {"bitcast", special, 0},
	Split:         {"split", special, 0},
	Join:          {"join", special, 0},
	Load:          {"load", special, 0},
	Store:         {"store", special, 0},
	AtomicAdd:     {"atomic_add", atomic, ints},
	AtomicMin:     {"atomic_min", atomic, ints},
	AtomicMax:     {"atomic_max", atomic, ints},
	AtomicAnd:     {"atomic_and", atomic, ints},
	AtomicOr:      {"atomic_or", atomic, ints},
	AtomicXchg:    {"atomic_xchg", atomic, ints},
	AtomicCAS:     {"atomic_cas", atomic, ints},
	MatMulAdd:     {"mat_mul_add", special, 0},
	Shuffle:       {"shuffle", special, 0},
	GroupIdx:      {"group", special, 0},
	GroupBarrier:  {"group_barrier", special, 0},
	Registers:     {"registers", special, 0},
	Arrive:        {"arrive", special, 0},
	Await:         {"await", special, 0},
	CopyBox:       {"copy_box", special, 0},
	MultiplyTiles: {"multiply_tiles", special, 0},
	MultiplyHeld:  {"multiply_held", special, 0},
	SetSum:        {"set_sum", special, 0},
	Commit:        {"commit", special, 0},
	Drain:         {"drain", special, 0},
	Sum:           {"sum", special, 0},
	Barrier:       {"barrier", special, 0},
	For:           {"for", control, 0},
	If:            {"if", control, 0},
	While:         {"while", control, 0},
}

// String returns the name of the operation in the text form.
func (o Op) String() string {
	if o >= numOps {
		return "unknown"
	}
	return ops[o].name
}

// IsArithmetic reports whether operations can compute with values of type d.
func IsArithmetic(d ir.DType) bool {
	switch d {
	case ir.Bool, ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64:
		return true
	}
	return false
}

// IsStorage reports whether values of type d can be moved and converted, but not computed with.
func IsStorage(d ir.DType) bool {
	switch d {
	case ir.I8, ir.U8, ir.I16, ir.U16, ir.F16, ir.BF16:
		return true
	}
	return false
}

func classOf(d ir.DType) on {
	switch {
	case !IsArithmetic(d):
		return 0
	case d == ir.Bool:
		return bools
	case d.IsFloat():
		return floats
	}
	return ints
}
