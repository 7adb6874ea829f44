// Package program turns a lowered function into the list of steps that package emit prints and
// package exec runs. A target makes the steps that compute nodes. Package program makes control
// flow, checks, copies and allocations, which are the same for every target. Package plan then
// assigns memory to the values of the steps. Package program does not know Go syntax or kernels.
package program

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

// Func is a function of the IR as a list of steps. Plan says where the values of the steps are in
// memory.
type Func struct {
	IR    *ir.Func
	Plan  *plan.Plan
	Steps []Step
}

// Step is one step of a function. The steps of this package are common to all targets. Steps that
// compute a node belong to the target.
type Step interface {
	// At returns the node of the step, or nil for the copy and the [Resize] of a result.
	At() *ir.Node
	// Refs returns the memory references of the step.
	Refs() []*plan.Ref
}

// Computes reports whether a step computes or copies elements: it is a step of the target, or a
// [Copy].
func Computes(s Step) bool {
	switch s.(type) {
	case *Check, *Bind, *Alloc, *Hold, *Resize, *Invoke, *Branch, *Repeat, *Custom:
		return false
	}
	return true
}

// Copy copies a value, or a part of a value, from the memory From to the memory To.
type Copy struct {
	Node     *ir.Node // nil for the copy of a result
	To, From *plan.Ref
}

// Check is a step that returns an error at run time unless the extents A and B are equal. If One is true, A may also
// be 1. The error names the extents with the text What.
type Check struct {
	Node *ir.Node
	A, B dim.Dim
	What string
	One  bool // A may also be 1
}

// Bind gives values to Symbols. For each symbol, Measures has a step of the target that returns the
// symbol's value, an int.
type Bind struct {
	Node     *ir.Node
	Symbols  []string
	Measures []Step
}

// Alloc allocates a buffer whose size is known only at this step.
type Alloc struct {
	Node   *ir.Node
	Buffer *plan.Buffer
	Index  int // index in the plan's Tails
}

// Hold allocates Variable, which holds the elements of a tensor of strings.
type Hold struct {
	Node     *ir.Node
	Variable *plan.Variable
}

// Resize sets the shape of the function's result with the index Index. The shape becomes known at this step.
type Resize struct {
	Index int
	Shape []dim.Dim
}

// At implements [Step].
func (s *Copy) At() *ir.Node { return s.Node }

// At implements [Step].
func (s *Check) At() *ir.Node { return s.Node }

// At implements [Step].
func (s *Bind) At() *ir.Node { return s.Node }

// At implements [Step].
func (s *Alloc) At() *ir.Node { return s.Node }

// At implements [Step].
func (s *Hold) At() *ir.Node { return s.Node }

// At implements [Step]. It returns nil, because the step does not belong to a node.
func (*Resize) At() *ir.Node { return nil }

// Refs implements [Step]. It returns To and From.
func (s *Copy) Refs() []*plan.Ref { return []*plan.Ref{s.To, s.From} }

// Refs implements [Step]. It returns nil, because the step uses no memory.
func (*Check) Refs() []*plan.Ref { return nil }

// Refs implements [Step]. It returns the memory that the steps of the target read.
func (s *Bind) Refs() []*plan.Ref {
	var refs []*plan.Ref
	for _, m := range s.Measures {
		refs = append(refs, m.Refs()...)
	}
	return refs
}

// Refs implements [Step]. It returns nil: the memory is not read yet.
func (*Alloc) Refs() []*plan.Ref { return nil }

// Refs implements [Step]. It returns nil: the memory is not read yet.
func (*Hold) Refs() []*plan.Ref { return nil }

// Refs implements [Step]. It returns nil: the result is not read yet.
func (*Resize) Refs() []*plan.Ref { return nil }
