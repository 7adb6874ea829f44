package plan

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

type part struct {
	whole  *ir.Value
	offset dim.Dim // in the concatenation, in elements
}

// Joiner is an operator whose operands may be computed directly in the memory of its result, such
// as a Concat. The elements of each operand must be contiguous in the result.
type Joiner interface {
	// Parts returns the offset of each operand in the result, in elements, or nil if the operands
	// are not contiguous in it.
	Parts(n *ir.Node) []dim.Dim
}

// findParts finds the values that nodes write directly into the result of a concatenation. These
// values are operands of the concatenation. If an operand is a view, findParts considers the value
// that the view shows instead. [planner.canBePart] must allow the value.
func (p *planner) findParts() {
	p.parts = map[*ir.Value]part{}
	for _, n := range p.Func.Nodes {
		op, ok := n.Op.(Joiner)
		if !ok || p.IsLate(n.Results[0].Type) {
			continue
		}
		offsets := op.Parts(n)
		if offsets == nil {
			continue
		}
		for i, a := range n.Args {
			if v := viewed(a); p.canBePart(v) {
				p.parts[v] = part{whole: n.Results[0], offset: offsets[i]}
			}
		}
	}
	// A part of a part begins at the sum of their offsets.
	for v, at := range p.parts {
		for {
			outer, ok := p.parts[at.whole]
			if !ok {
				break
			}
			at = part{outer.whole, outer.offset.Add(at.offset)}
		}
		p.parts[v] = at
	}
}

// viewed looks through chains of views. If v is a view of all elements of another value, viewed
// returns that value. Otherwise it returns v.
func viewed(v *ir.Value) *ir.Value {
	for v.Def != nil && isView(v.Def) && sameMemory(v.Type, v.Def.Args[0].Type) {
		v = v.Def.Args[0]
	}
	return v
}

// canBePart reports whether v may be computed in the memory of a concatenation's result. A node
// must compute v. v must not be a constant, a weight, a view, a result of the function, or part of
// another concatenation.
func (p *planner) canBePart(v *ir.Value) bool {
	_, elsewhere := p.result[v]
	return !elsewhere && v.Def != nil && !v.Def.IsStored() && !isView(v.Def) && !p.isPart(v)
}

func (p *planner) isPart(v *ir.Value) bool { _, ok := p.parts[v]; return ok }
