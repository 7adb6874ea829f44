package plan

import "github.com/burngen/burngen/ir"

// part is where a value is made inside the memory of a concatenation.
type part struct {
	whole  *ir.Value
	offset ir.Dim // in elements
}

// Joiner is an operator whose operands, where they are contiguous parts of its
// result, may be made there.
type Joiner interface {
	// Parts returns where each operand begins in the result, in elements, or nil
	// when the operands are not contiguous in it.
	Parts(n *ir.Node) []ir.Dim
}

// findParts finds the values that are made inside the memory of a concatenation:
// its operands, or what those are views of, unless they live elsewhere already.
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

// viewed returns the value that v is a view of, all of it.
func viewed(v *ir.Value) *ir.Value {
	for v.Def != nil && isView(v.Def) && sameMemory(v.Type, v.Def.Args[0].Type) {
		v = v.Def.Args[0]
	}
	return v
}

// canBePart reports whether a node makes v, for nobody in particular: v is no
// view, no result of the function, and no part of another concatenation.
func (p *planner) canBePart(v *ir.Value) bool {
	if _, elsewhere := p.result[v]; elsewhere || v.Def == nil || isView(v.Def) || p.isPart(v) {
		return false
	}
	switch v.Def.Op.(type) {
	case ir.Load, ir.Constant:
		return false
	}
	return true
}

func (p *planner) isPart(v *ir.Value) bool { _, ok := p.parts[v]; return ok }
