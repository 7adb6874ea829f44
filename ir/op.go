package ir

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// Op is an operator with its attributes: a struct, comparable by [Equal], whose
// name in the text form is the snake case of its Go type.
type Op interface {
	// Infer returns the types of the results. An absent optional operand has
	// the zero Type. An extent that has to equal another but cannot be proven
	// to is reported by returning an [Unproven].
	Infer(in []Type) ([]Type, error)
	// Eval computes the results, slowly and obviously: it is the oracle for
	// folding, lowering and kernels. Attributes hold no symbols when it is
	// called; an absent optional operand is nil.
	Eval(in []*Tensor) ([]*Tensor, error)
}

// RegionOp is an operator that owns blocks, such as a loop.
type RegionOp interface {
	Op
	// InferBlocks returns the types of the results of a node with these blocks.
	InferBlocks(in []Type, blocks []*Block) ([]Type, error)
	// EvalBlocks computes the results; run evaluates a block on arguments.
	EvalBlocks(in []*Tensor, blocks []*Block, run func(b *Block, args []*Tensor) ([]*Tensor, error)) ([]*Tensor, error)
}

// Scoper is an operator whose blocks have parameters with symbols of their own: each
// run of a block binds them to the extents of its arguments.
type Scoper interface {
	RegionOp
	// Scope returns the symbols.
	Scope() []string
}

// Binder is an operator that binds fresh symbols to what is known only once its
// operands are: extents of its results, or elements of an operand.
type Binder interface {
	// Binds returns the symbols.
	Binds() []string
	// BindValues returns their values when Eval made out of in.
	BindValues(in, out []*Tensor) ([]int64, error)
	// Measure returns, for each symbol, the call of a kernel that returns its value
	// as an int, or an int and an error. It is made before the node's own call. There
	// are none where the results are made with their shapes, which have the values.
	Measure(n *Node) ([]Call, error)
}

// Effect is an operator that is kept although nobody uses its results.
type Effect interface{ HasEffect() }

// Overwriter is an operator whose first result may take the memory of an
// operand: of the same size, read at each place before that place is written.
type Overwriter interface{ Overwrites() []int }

// Viewer is an operator whose result is its first operand's memory, unchanged.
type Viewer interface{ IsView() }

// ElemsOp is an operator whose result's elements can be given as expressions
// when its operands' are.
type ElemsOp interface {
	// InferElems returns the elements of the only result, nil when unknown.
	// Operands of unknown elements have nil Elems.
	InferElems(in []*Value, out Type) []Ratio
}

// Coster is an operator that knows its floating-point operations.
type Coster interface{ Flops(in, out []Type) Dim }

// Lowerer is an operator that is computed through others on a target.
type Lowerer interface {
	// Lower builds the replacement of n's results; nil keeps n.
	Lower(b *Builder, n *Node) []*Value
}

// Caller is an operator that one kernel computes.
type Caller interface {
	// Call returns the kernel's name and arguments for n.
	Call(n *Node) (Call, error)
}

// Differentiable is an operator of which gradients can be taken.
type Differentiable interface {
	Op
	// Grad builds the gradients of n's operands of those of its results: the sum over
	// all results of what a result's element changes with an operand's, times of, the
	// gradient of that result's element. Some of of are nil, for zeros, but not all.
	// want says of which operands a gradient is wanted; the others may be nil, and so
	// may those that are zero everywhere.
	Grad(b *Builder, n *Node, of []*Value, want []bool) []*Value
}

// Composite is an operator whose gradients are those of others that make its results.
type Composite interface {
	Op
	// Compose builds n's results of other operators that gradients can be taken of; nil
	// is for a node whose gradients are its own, as [Differentiable] says.
	Compose(b *Builder, n *Node) []*Value
}

// Trainable is an operator that computes something else while a model is trained,
// such as one that drops elements at random.
type Trainable interface {
	Op
	// Train builds what replaces n's results; nil keeps n.
	Train(b *Builder, n *Node, t Training) []*Value
}

// Training is the function that a [Trainable] operator is part of.
type Training interface {
	// Key returns an i64[2] that differs from step to step and from seed to seed.
	Key(b *Builder) *Value
	// IsFrozen reports whether a value is a weight that is not trained.
	IsFrozen(v *Value) bool
	// Update makes next the value of a weight, of its type, after the step. It does
	// nothing where v is no weight.
	Update(v, next *Value)
}

// Unproven is the error of an [Op.Infer] that needs A and B to be equal.
type Unproven struct {
	A, B Dim
	What string // what the two are, such as "inner dimensions"
}

func (e *Unproven) Error() string {
	return fmt.Sprintf("%s: cannot prove that %s equals %s", e.What, e.A, e.B)
}

// OpName returns the name of op in the text form: MaxPool is "max_pool", LRN "lrn".
func OpName(op Op) string { return snake(reflect.TypeOf(op).Name()) }

// snake turns a Go name into snake case, keeping runs of capitals together.
func snake(name string) string {
	var b strings.Builder
	r := []rune(name)
	for i, c := range r {
		if unicode.IsUpper(c) {
			if i > 0 && (!unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])) {
				b.WriteByte('_')
			}
			c = unicode.ToLower(c)
		}
		b.WriteRune(c)
	}
	return b.String()
}

// OpSet finds operators by their name in the text form.
type OpSet map[string]reflect.Type

// NewOpSet returns the set of ops.
func NewOpSet(ops ...Op) OpSet {
	s := OpSet{}
	for _, op := range ops {
		s[OpName(op)] = reflect.TypeOf(op)
	}
	return s
}

// Builtin returns the operators that ir itself knows. A set that [Parse] takes has them.
func Builtin() []Op {
	return []Op{Constant{}, Load{}, Extents{}, CheckDim{}, Assume{}, Invoke{}}
}
