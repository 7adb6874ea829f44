package program

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// Custom calls a function of the user's program. A result that is Boxed takes the shape
// that the function gives it; Extents bind symbols to such shapes then.
type Custom struct {
	Node          *ir.Node
	Op            op.Custom
	Results, Args []*Ref
	Extents       []Extent
}

// At returns Node.
func (s *Custom) At() *ir.Node { return s.Node }

func (b *builder) custom(n *ir.Node, o op.Custom) *Custom {
	s := &Custom{Node: n, Op: o, Extents: b.extents(n, o.Extents)}
	for _, r := range n.Results {
		s.Results = append(s.Results, b.ref(r))
	}
	for _, a := range n.Args {
		s.Args = append(s.Args, b.ref(a))
	}
	return s
}

// Customs returns the calls of the user's functions in f and in the functions that it
// calls.
func (f *Func) Customs() []*Custom {
	var out []*Custom
	for _, g := range append(f.Callees(), f) {
		for _, s := range g.Steps {
			if c, ok := s.(*Custom); ok {
				out = append(out, c)
			}
		}
	}
	return out
}
