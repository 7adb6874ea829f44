package pass

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// isFused reports whether the blocks of an operator are parts of its kernel rather than control flow.
func isFused(o ir.Op) bool {
	_, pointwise := o.(op.Pointwise)
	_, ends := o.(op.Ender)
	_, encloses := o.(ir.Encloser)
	return pointwise || ends || encloses
}

func regionNodes(m *ir.Module) map[*ir.Node]bool {
	inside := map[*ir.Node]bool{}
	for _, f := range m.Funcs {
		for n := range f.All() {
			if !isFused(n.Op) {
				continue
			}
			for _, b := range n.Blocks {
				for _, r := range b.Nodes {
					inside[r] = true
				}
			}
		}
	}
	return inside
}

func homes(f *ir.Func) map[*ir.Node]*ir.Block {
	home := map[*ir.Node]*ir.Block{}
	var note func(b *ir.Block)
	note = func(b *ir.Block) {
		for _, n := range b.Nodes {
			home[n] = b
			for _, inner := range n.Blocks {
				note(inner)
			}
		}
	}
	note(&f.Block)
	return home
}
