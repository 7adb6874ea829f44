package cpu

import (
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// Call is a call of a kernel. An argument is a *[plan.Ref], [Scalar], [Pointer], [dim.Dim],
// []dim.Dim, [kernel.Context], [kernel.Number], [kernel.Constant], *[Struct], *[Chain], []any, bool,
// string, or nil for an absent operand.
type Call struct {
	Node     *ir.Node
	Kernel   *kernel.Kernel
	Instance int // see [kernel.Call]
	Args     []any
}

// Scalar is an argument that is passed by value. It is the first element of the memory that Ref refers to.
type Scalar struct{ Ref *plan.Ref }

// Pointer points to the container that Ref refers to.
type Pointer struct{ Ref *plan.Ref }

// Struct is a [kernel.Composite] in the arguments of a [Call]. The values of its fields are arguments of a [Call],
// too.
type Struct struct {
	Type   string
	Ctx    bool
	Fields []kernel.Field
}

// At returns the node that the step belongs to.
func (s *Call) At() *ir.Node { return s.Node }

// Refs returns the references to memory among the arguments.
func (s *Call) Refs() []*plan.Ref { return refsIn(nil, s.Args) }

func refsIn(refs []*plan.Ref, arg any) []*plan.Ref {
	switch a := arg.(type) {
	case *plan.Ref:
		if a != nil {
			refs = append(refs, a)
		}
	case Scalar:
		refs = refsIn(refs, a.Ref)
	case Pointer:
		refs = refsIn(refs, a.Ref)
	case *Struct:
		for _, f := range a.Fields {
			refs = refsIn(refs, f.Value)
		}
	case []any:
		for _, item := range a {
			refs = refsIn(refs, item)
		}
	}
	return refs
}

// copyCall returns the kernel call for a copy. Both operands have the type of the value that s.To
// refers to. Each type has an instance of the kernel.
func copyCall(s *program.Copy) *Call {
	t, dst := s.To.Value.Type, any(s.To)
	copies := kernel.Copy
	if !t.IsTensor() {
		copies, dst = containerCopies[t.Kind][t.Elem.Kind], Pointer{s.To}
	}
	c := copies(kernel.Result{Value: s.To.Value}, kernel.Operand{Value: s.To.Value})
	return &Call{Node: s.Node, Kernel: c.Kernel, Instance: c.Instance, Args: []any{dst, s.From}}
}

// containerCopies has the kernels that copy containers. The keys are the kind of the container and the kind of its
// elements.
var containerCopies = map[ir.Kind]map[ir.Kind]func(dst, src kernel.Memory) kernel.Call{
	ir.SequenceKind: {ir.TensorKind: kernel.CopySequence, ir.MapKind: kernel.CopyMaps},
	ir.OptionalKind: {ir.TensorKind: kernel.CopyOptional, ir.SequenceKind: kernel.CopyOptionalSequence},
	ir.MapKind:      {ir.TensorKind: kernel.CopyMap},
}
