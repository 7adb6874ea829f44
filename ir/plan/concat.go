package plan

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// part is a value that is made inside the memory of a concatenation.
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

// findParts finds the operands of concatenations that can be made in place:
// those that a node of the function makes, that are no view, no result of the
// function, and no part of another concatenation.
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
		taken := map[*ir.Value]bool{}
		for i, a := range n.Args {
			if _, twice := p.parts[a]; twice || taken[a] || !p.canBePart(a) {
				continue
			}
			taken[a] = true
			p.parts[a] = part{whole: n.Results[0], offset: offsets[i]}
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

func (p *planner) canBePart(v *ir.Value) bool {
	if v.Def == nil || isView(v.Def) || p.resultIndex(v) >= 0 {
		return false
	}
	switch v.Def.Op.(type) {
	case ir.Load, ir.Constant:
		return false
	}
	return true
}

func (p *planner) isPart(v *ir.Value) bool { _, ok := p.parts[v]; return ok }

// whole returns the storage of a concatenation whose first part node i makes.
func (p *planner) whole(v *ir.Value, i int) *storage {
	if s := p.storage[v]; s != nil {
		return s
	}
	var s *storage
	if k := p.resultIndex(v); k >= 0 {
		s = &storage{place: Place{Kind: Result, Index: k}, last: math.MaxInt}
	} else {
		s = p.buffered(v, i)
		s.last = p.life[v]
		s.buffer.Last = s.last
	}
	p.storage[v] = s
	return s
}
