package program

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/plan"
)

// Builder creates the steps of a node, before the function is planned.
type Builder struct {
	compiler *compiler
	node     *ir.Node // the node whose steps are created
	steps    []Step   // steps of node
	scratch  int      // number of scratch values of node
}

// Add appends steps to the steps of the node that is being built.
func (b *Builder) Add(steps ...Step) { b.steps = append(b.steps, steps...) }

// Read returns a reference to a value that a step reads, or nil for an absent operand.
func (b *Builder) Read(v *ir.Value) *plan.Ref { return ref(v, plan.Read) }

// Write returns a reference to a value that a step writes.
func (b *Builder) Write(v *ir.Value) *plan.Ref { return ref(v, plan.Write) }

// Reads returns references to values that a step reads, nil for absent operands.
func (b *Builder) Reads(values []*ir.Value) []*plan.Ref { return refs(values, b.Read) }

// Writes returns references to values that a step writes, nil for absent results.
func (b *Builder) Writes(values []*ir.Value) []*plan.Ref { return refs(values, b.Write) }

func refs(values []*ir.Value, ref func(*ir.Value) *plan.Ref) []*plan.Ref {
	var out []*plan.Ref
	for _, v := range values {
		out = append(out, ref(v))
	}
	return out
}

// Scratch returns a reference to memory that only the steps of the node use. The memory is for a tensor or a
// container of type t.
func (b *Builder) Scratch(t ir.Type) *plan.Ref {
	b.scratch++
	name := fmt.Sprintf("Scratch%d", b.scratch)
	if len(b.node.Results) > 0 {
		name = b.node.Results[0].Name + name
	}
	return scratch(name, t)
}

// scratch returns a reference to memory of type t that only the steps of a node use. name appears
// in the plan.
func scratch(name string, t ir.Type) *plan.Ref {
	return ref(&ir.Value{Name: name, Type: t}, plan.Scratch)
}

func ref(v *ir.Value, access plan.Access) *plan.Ref {
	if v == nil {
		return nil
	}
	return &plan.Ref{Value: v, Access: access, DType: v.Type.DType, Len: v.Type.Elems()}
}

// build returns the steps of each node of a function, followed by the steps of its results.
func (c *compiler) build(f *ir.Func) ([][]Step, error) {
	var steps [][]Step
	for _, n := range f.Nodes {
		b := &Builder{compiler: c, node: n}
		if err := b.build(n); err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		steps = append(steps, b.steps)
	}
	var copies []Step
	for k, r := range f.Results {
		to := ref(r, plan.Write)
		to.Place = plan.Place{Kind: plan.Result, Index: k}
		copies = append(copies, &Copy{To: to, From: ref(r, plan.Read)})
	}
	return append(steps, copies), nil
}

func (b *Builder) build(n *ir.Node) error {
	if o, ok := n.Op.(plan.Joiner); ok {
		if offsets := o.Parts(n); offsets != nil {
			b.join(n, offsets)
			return nil
		}
	}
	if n.IsStored() {
		return nil
	}
	switch o := n.Op.(type) {
	case ir.CheckDim:
		b.Add(&Check{Node: n, A: o.A, B: o.B, What: o.What, One: o.One})
		return nil
	case ir.Invoke:
		return b.invoke(n, o)
	case op.If:
		return b.branch(n, o)
	case op.Loop:
		return b.repeat(n, o)
	case op.Custom:
		b.custom(n, o)
		return nil
	case ir.Viewer:
		to, from := b.Write(n.Results[0]), b.Read(n.Args[0])
		from.DType, from.Len = to.DType, to.Len
		b.Add(&Copy{Node: n, To: to, From: from})
		return nil
	}
	return b.compiler.target.Build(b, n)
}

// join appends a [Copy] for each operand of a concatenation. offsets are the starts of the operands in
// the result, in elements. If planning places an operand in the result's memory, [arrange] drops its
// copy.
func (b *Builder) join(n *ir.Node, offsets []dim.Dim) {
	for i, a := range n.Args {
		from, to := b.Read(a), b.Write(n.Results[0])
		to.DType, to.Len, to.Offset = from.DType, from.Len, offsets[i]
		b.Add(&Copy{Node: n, To: to, From: from})
	}
}
