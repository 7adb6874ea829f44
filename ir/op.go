package ir

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"github.com/burngen/burngen/ir/dim"
)

// Op is an operator with its attributes: a struct that is comparable by [Equal]. Its name in the text form of the
// IR is the name of its Go type in snake case.
type Op interface {
	// Infer returns the types of the results. An absent optional operand has the zero Type. If two
	// extents have to be equal and this cannot be proven, it returns an [Unproven] error.
	Infer(in []Type) ([]Type, error)
	// Eval computes the results in a simple and slow way. It is the reference for folding, lowering
	// and kernels. Attributes contain no symbols when it is called. An absent optional operand is
	// nil.
	Eval(in []*Tensor) ([]*Tensor, error)
}

// RegionOp is an operator with blocks, such as a loop.
type RegionOp interface {
	Op
	// InferBlocks returns the types of the results of a node with these blocks.
	InferBlocks(in []Type, blocks []*Block) ([]Type, error)
	// EvalBlocks computes the results. run evaluates a block on arguments.
	EvalBlocks(in []*Tensor, blocks []*Block, run func(b *Block, args []*Tensor) ([]*Tensor, error)) ([]*Tensor, error)
}

// Scoper is an operator whose blocks have symbols of their own. When a block is executed, its symbols are bound to
// extents of the block's arguments.
type Scoper interface {
	RegionOp
	// Scope returns the symbols.
	Scope() []string
}

// Binder is an operator that binds new symbols. The values of the symbols are known only at run time. They are
// extents of the operator's results, or elements of an operand.
type Binder interface {
	// Binds returns the symbols.
	Binds() []string
	// BindValues returns the values of the symbols, given the operands and results of Eval.
	BindValues(in, out []*Tensor) ([]int64, error)
}

// Effect is an operator whose nodes are kept even if nothing reads their results.
type Effect interface{ HasEffect() }

// Opaque is an operator that only the user's program can compute. The compiler does not know what
// it computes.
type Opaque interface{ IsOpaque() }

// Linked is an operator that may name a function of the module. This function computes the gradients of the
// operator.
type Linked interface {
	Op
	// Link returns the operator with the function that it names. find returns a function of the
	// module, or nil. Link returns an error if the function is missing or does not fit.
	Link(find func(name string) *Func) (Op, error)
}

// Overwriter is an operator whose first result may reuse the memory of an operand. The result and the operand must
// have equal sizes, and the kernel must read element i of the operand before it writes element i of the result.
// Overwrites returns the indices of such operands.
type Overwriter interface{ Overwrites() []int }

// Viewer is an operator whose result is the memory of its first operand, unchanged.
type Viewer interface{ IsView() }

// ElemsOp is an operator that can express the elements of its result in symbols, if the elements of its operands
// are expressions of symbols.
type ElemsOp interface {
	// InferElems returns the elements of the only result, or nil if unknown. Operands with unknown
	// elements have nil Elems.
	InferElems(in []*Value, out Type) []Ratio
}

// Coster is an operator that reports how many floating-point operations it takes, given the types of its operands
// and results.
type Coster interface{ Flops(in, out []Type) dim.Dim }

// Encloser is a [RegionOp] that runs each node of its blocks once, on whole tensors. So [Node.Work] counts the
// operations of these nodes as operations of the Encloser.
type Encloser interface {
	RegionOp
	Encloses()
}

// Lowerer is an operator that other operators can replace for a target.
type Lowerer interface {
	// Lower builds replacements of n's results. It returns nil to keep n.
	Lower(b *Builder, n *Node) []*Value
}

// Differentiable is an operator that has gradients.
type Differentiable interface {
	Op
	// Grad builds the gradients of n's operands from dy, the gradients of its results. A nil dy[i]
	// is zero; at least one is not nil. want[i] says whether the gradient of operand i is needed.
	// Gradients that are not needed, or zero everywhere, may be nil.
	Grad(b *Builder, n *Node, dy []*Value, want []bool) []*Value
}

// Composite is an operator that can be composed of other operators. It is differentiated through this composition.
type Composite interface {
	Op
	// Compose builds n's results from other differentiable operators. It returns nil for a node
	// whose gradient is given by [Differentiable].
	Compose(b *Builder, n *Node) []*Value
}

// Trainable is an operator that computes something else in training than in inference, such as dropout.
type Trainable interface {
	Op
	// Train builds replacements of n's results for training. It returns nil to keep n.
	Train(b *Builder, n *Node, t Training) []*Value
}

// Training is the training function that contains a [Trainable] operator.
type Training interface {
	// Key returns an i64[2] that differs between steps and between seeds.
	Key(b *Builder) *Value
	// IsFrozen reports whether v is a weight that is not trained.
	IsFrozen(v *Value) bool
	// Update sets the value of weight v after the step to next, which has the same type. It does
	// nothing if v is not a weight.
	Update(v, next *Value)
}

// Unproven is an error of [Op.Infer]. The operator requires the extents A and B to be equal, but Infer cannot prove
// that they are.
type Unproven struct {
	A, B dim.Dim
	What string // describes A and B, such as "inner dimensions"
}

func (e *Unproven) Error() string {
	return fmt.Sprintf("%s: cannot prove that %s equals %s", e.What, e.A, e.B)
}

// OpName returns the name of op in the text form: "max_pool" for MaxPool, "lrn" for LRN.
func OpName(op Op) string { return snake(reflect.TypeOf(op).Name()) }

// snake converts a Go name to snake case: "KeepDims" to "keep_dims", and "DType" to "d_type".
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

// OpSet maps names in the text form to operators.
type OpSet map[string]reflect.Type

// NewOpSet returns an OpSet of ops. Its keys are the names of the operators in the text form.
func NewOpSet(ops ...Op) OpSet {
	s := OpSet{}
	for _, op := range ops {
		s[OpName(op)] = reflect.TypeOf(op)
	}
	return s
}

// Builtin returns the operators that this package defines. The [OpSet] of a call of [Parse] must contain them.
func Builtin() []Op {
	return []Op{Constant{}, Load{}, Extents{}, CheckDim{}, Assume{}, Invoke{}}
}
