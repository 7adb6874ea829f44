package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// The interfaces below describe operators to passes. An operator implements them in its own file, so
// that a new operator needs no entry in a list elsewhere.

// Commutative is an operator whose two operands may be swapped. [Max] and [Min] are not
// commutative: if both operands are zeros, they return the second.
type Commutative interface{ IsCommutative() }

// Neutral is an operator with two operands, for which some number as second operand leaves the first operand
// unchanged: 1 for a product, for example.
type Neutral interface {
	// Neutral returns the number that, as second operand, leaves the first operand unchanged.
	Neutral() float64
}

// Involution is an operator f of one operand with f(f(x)) = x.
type Involution interface{ IsInvolution() }

// Idempotent is an operator f of one operand with f(f(x)) = f(x), or of two operands with f(x, x) = x.
type Idempotent interface{ IsIdempotent() }

// Identity is an operator that has no effect with some attributes: it then returns its only operand unchanged.
type Identity interface {
	// IsIdentity reports whether the result equals the operand if both have type x and there are no
	// other operands.
	IsIdentity(x ir.Type) bool
}

// Clamp is an operator that clamps its only operand.
type Clamp interface {
	// Limits returns the smallest and the largest result; they may be infinite.
	Limits() (lo, hi float64)
}

// Affine is an operator that multiplies its first operand by its second, or adds the second. It may first apply
// another operator to the second.
type Affine interface {
	// Affine returns true if the operator multiplies, and false if it adds. inverse is an operator
	// that must be applied to the second operand first. It is nil if the second operand is used as it
	// is.
	Affine() (scales bool, inverse ir.Op)
}

// Cheap is an elementwise operator. It costs less to compute its result again than to store it.
type Cheap interface{ IsCheap() }

// MemoryBound is an operator whose run time is about the time that it takes to read its operands and write its
// results.
type MemoryBound interface{ IsMemoryBound() }

// Whole is an operator that is lowered only if the target has no kernel for it. Such a kernel is faster than the
// operators that replace it.
type Whole interface{ IsWhole() }

// Pairing is an operator whose work depends on the values of its operands. An example is a search that may compare
// each element with every other. The number of operations of a Pairing is at most the square of [ir.Node.Work].
type Pairing interface{ IsPairing() }

// Mover is an operator whose result consists of elements of its operands, unchanged.
type Mover interface{ Movement() Movement }

// Selector is an operator that compares elements of its first operand. Its first result consists of the elements that
// it chooses. An example is a maximum pool.
type Selector interface{ IsSelector() }

// Movement describes which elements a [Mover] takes.
type Movement uint8

// The kinds of movement. An operator that is not a [Mover] has NoMovement.
const (
	NoMovement Movement = iota
	Rearranges          // elements of the first operand, each at most once
	Repeats             // elements of the first operand, possibly several times
	Picks               // elements of the first operand, selected by indices
	Joins               // elements of all operands, each once
)

// MovementOf returns the Movement of o, or NoMovement if o is not a [Mover].
func MovementOf(o ir.Op) Movement {
	if m, ok := o.(Mover); ok {
		return m.Movement()
	}
	return NoMovement
}

// Transposable is an operator f for which f(transpose(x)) = transpose(g(x)), where g is an operator of the same kind.
type Transposable interface {
	// BeforeTranspose returns g for the transpose by perm.
	BeforeTranspose(perm []int) ir.Op
}

// RowWise is an operator that computes each row of its first operand separately. A row consists of the elements
// along an axis and all axes after it.
type RowWise interface {
	// RowAxis returns the first axis of a row of an operand of this rank. ok is false if the operator does not
	// compute rows separately, such as a softmax along an axis that is not the last.
	RowAxis(rank int) (axis int, ok bool)
	// AtAxis returns the operator with rows that begin at another axis.
	AtAxis(axis int) ir.Op
}

// Ender is an operator with an [Epilogue]. If its node has a region, the region is the last part of the epilogue.
type Ender interface {
	ir.Op
	// Ending returns the epilogue.
	Ending() Epilogue
}

// EpilogueHost is an [Ender] whose epilogue can be replaced.
type EpilogueHost interface {
	Ender
	// WithEnding returns the operator with another epilogue.
	WithEnding(e Epilogue) ir.Op
	// Bias appends v, which broadcasts to the result of node n of the operator, in the form of the
	// epilogue's bias. It returns nil if v has no such form.
	Bias(b *ir.Builder, n *ir.Node, v *ir.Value) *ir.Value
}

// NarrowReader is an operator with an f32 operand that its kernel can also read as f16 or bf16.
type NarrowReader interface {
	// NarrowOperand returns the index of the operand.
	NarrowOperand() int
}

// Product is an operator whose result is made of sums of products of its first operands. The result has the type of
// these operands. Kernels may add up elements of 16 bits in 32 bits.
type Product interface {
	ir.Op
	// Factors returns the number of these first operands. It is 3 for a convolution, because the bias counts. The
	// last of them may be absent.
	Factors() int
	// Widened returns the operator with a result of f32 if the operands are narrower floats. The sums are
	// not rounded then.
	Widened() ir.Op
}

// TransposedReader is an operator on matrices that can read them transposed.
type TransposedReader interface {
	// ReadTransposed returns an operator that reads its only operand with the last two axes swapped. From the swapped
	// operand, it computes what this operator computes from the operand itself.
	ReadTransposed() ir.Op
}

// Weighed is an operator on weights. Its result may be computed once, before all runs, and stored, even if it is much
// larger than the weights. The pass that creates the operator has found that the saved time is worth the memory.
type Weighed interface{ IsWeighed() }

// Parametric is an operator whose operands, if they are weights, are parameters of the model: factors of products,
// scales, biases and tables. Running statistics are not parameters.
type Parametric interface {
	// IsStatistic reports whether an operand is a running statistic.
	IsStatistic(operand int) bool
}

// Scalar is an elementwise operator with a formula for one element. The formula computes with values of the type
// that [kernel.Arithmetic] returns for the element type. f16 and bf16 elements become f32, and integers of less
// than 32 bits become i32 or u32.
type Scalar interface {
	ir.Op
	// Scalar returns an element of the result, of element type d, from one element of each operand. An
	// absent operand is nil. Integers are wrapped to d. Floats of 16 bits are not rounded to d, except by
	// [Cast]; storing them does that. It returns nil if there is no formula for these types.
	Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value
}

// Narrow is a [Scalar] that has a shorter formula for results that are stored as f16 or bf16. The relative error of
// the formula is at most 2⁻¹⁵. This is a sixteenth of the largest error of rounding to f16.
type Narrow interface {
	Scalar
	// Narrow returns an element of the result in f32 from one element of each operand, which are f32. It returns nil if
	// there is no shorter formula.
	Narrow(b *kernel.Builder, x []*kernel.Value) *kernel.Value
}
