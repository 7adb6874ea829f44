package op

import "github.com/burngen/burngen/ir"

// The interfaces below are what passes ask of an operator. An operator implements them
// in its own file, so that a new one is on no list elsewhere.

// Commutative is an operator whose two operands may change places. [Max] and [Min] are
// not commutative: of two zeros they give the second.
type Commutative interface{ IsCommutative() }

// Neutral is an operator of two operands with a neutral second operand.
type Neutral interface {
	// Neutral returns the number that, as the second operand, leaves the first as it is.
	Neutral() float64
}

// Involution is an operator f of one operand of which f(f(x)) is x.
type Involution interface{ IsInvolution() }

// Idempotent is an operator f of one operand of which f(f(x)) is f(x), or of two
// operands of which f(x, x) is x.
type Idempotent interface{ IsIdempotent() }

// Identity is an operator of one operand whose attributes may leave nothing to do.
type Identity interface {
	// IsIdentity reports whether the result, if it has the operand's type x, is the operand.
	IsIdentity(x ir.Type) bool
}

// Clamp is an operator that limits its only operand.
type Clamp interface {
	// Limits returns the least and the greatest result; they may be infinite.
	Limits() (lo, hi float64)
}

// Affine is an operator that scales or shifts its first operand by its second.
type Affine interface {
	// Affine reports whether the operator scales. inverse is the operator that is applied
	// to the second operand before: nil for a product or a sum.
	Affine() (scales bool, inverse ir.Op)
}

// Cheap is an elementwise operator that costs less than storing its result.
type Cheap interface{ IsCheap() }

// MemoryBound is an operator that takes about as long as reading its operands and
// writing its results does.
type MemoryBound interface{ IsMemoryBound() }

// Pairing is an operator whose work depends on the values of its operands, such as a search
// that may compare each element with every other. It is at most the square of
// [ir.Node.Work].
type Pairing interface{ IsPairing() }

// Mover is an operator whose result's elements are elements of its operands, unchanged.
type Mover interface{ Movement() Movement }

// Movement says which elements a [Mover] takes.
type Movement uint8

// Kinds of movement. An operator that is not a [Mover] has NoMovement.
const (
	NoMovement Movement = iota
	Rearranges          // the first operand's elements, each at most once
	Repeats             // the first operand's elements, also more than once
	Picks               // the first operand's elements that indices name
	Joins               // the elements of all operands, each once
)

// MovementOf returns how an operator moves elements.
func MovementOf(o ir.Op) Movement {
	if m, ok := o.(Mover); ok {
		return m.Movement()
	}
	return NoMovement
}

// Transposable is an operator that can be computed before a transpose of its operands
// instead of after it.
type Transposable interface {
	// BeforeTranspose returns the operator on operands that are not yet transposed by perm.
	BeforeTranspose(perm []int) ir.Op
}

// RowWise is an operator that computes each row of its first operand by itself. A row
// consists of the axes from one axis to the last.
type RowWise interface {
	// RowAxis returns the first axis of a row of an operand of this rank. ok is false if
	// the operator works along an axis that another follows.
	RowAxis(rank int) (axis int, ok bool)
	// AtAxis returns the operator with rows that begin at another axis.
	AtAxis(axis int) ir.Op
}

// EpilogueHost is an operator whose kernel ends with an [Epilogue].
type EpilogueHost interface {
	ir.Op
	// Ending returns the epilogue.
	Ending() Epilogue
	// WithEnding returns the operator with another epilogue.
	WithEnding(e Epilogue) ir.Op
	// BlockedChannels returns the number of channels of the channel-blocked result. blocked
	// is false if the result is planar.
	BlockedChannels() (channels int, blocked bool)
}

// LaneFiller is an operator that determines the lanes of its channel-blocked result beyond
// the channels, whatever its operands' lanes hold.
type LaneFiller interface {
	// EmptyLanes returns the numbers that these lanes hold; nil if they are not known.
	EmptyLanes(n *ir.Node) []float64
}

// LaneMapper is an operator that computes each lane of its result from the same lane of
// its first operand, and from constants.
type LaneMapper interface{ MapsLanes() }

// Parametric is an operator whose operands, except running statistics, are parameters of
// the model if they are weights: factors of products, scales and biases, tables.
type Parametric interface {
	// IsStatistic reports whether an operand is a running statistic.
	IsStatistic(operand int) bool
}
