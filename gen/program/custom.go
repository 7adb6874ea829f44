package program

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/plan"
)

// Custom calls the user's Go function that Op names. If the function determines the shape of a result, the result is
// stored with its shape, see [plan.Ref.Boxed]. Extents then binds symbols to extents of these shapes.
type Custom struct {
	Node          *ir.Node
	Op            op.Custom
	Results, Args []*plan.Ref
	Extents       []Extent
}

// At implements [Step].
func (s *Custom) At() *ir.Node { return s.Node }

// Refs implements [Step]. It returns the results and the operands.
func (s *Custom) Refs() []*plan.Ref { return Present(s.Results, s.Args) }

func (b *Builder) custom(n *ir.Node, o op.Custom) {
	results := b.shaped(n)
	b.Add(&Custom{Node: n, Op: o, Results: results, Args: b.Reads(n.Args), Extents: extents(results, o.Extents)})
}

// Customs returns the calls of the user's functions in f and its callees.
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
