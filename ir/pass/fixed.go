package pass

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// fixed remembers which values depend on weights and constants only, and so are
// the same in every run.
type fixed map[*ir.Value]bool

// has reports whether v is such a value.
func (f fixed) has(v *ir.Value) bool {
	if v == nil || v.Def == nil {
		return false
	}
	known, ok := f[v]
	if !ok {
		known = isLeaf(v.Def) || f.made(v.Def)
		f[v] = known
	}
	return known
}

// made reports whether n makes fixed values of others.
func (f fixed) made(n *ir.Node) bool {
	_, effect := n.Op.(ir.Effect)
	_, binder := n.Op.(ir.Binder)
	_, invoke := n.Op.(ir.Invoke)
	_, custom := n.Op.(op.Custom)
	if effect || binder || invoke || custom || isRandom(n.Op) || len(n.Args) == 0 || len(n.Blocks) > 0 && !isFused(n.Op) {
		return false
	}
	for _, r := range n.Results {
		if !r.Type.IsTensor() || !r.Type.IsStatic() || r.Type.DType == ir.String {
			return false
		}
	}
	symbolic := false
	ir.SubstOp(n.Op, func(string) (ir.Dim, bool) { symbolic = true; return ir.Dim{}, false })
	if symbolic {
		return false
	}
	for _, a := range n.Args {
		if a != nil && !f.has(a) {
			return false
		}
	}
	return true
}

// isLeaf reports whether n gives what stands in the module already.
func isLeaf(n *ir.Node) bool {
	switch n.Op.(type) {
	case ir.Constant, ir.Load:
		return true
	case op.Fill:
		return n.Results[0].Type.IsStatic()
	}
	return false
}

// random is an operator whose results differ from one node to the next although
// the nodes are equal.
type random interface{ IsRandom() }

func isRandom(o ir.Op) bool {
	_, ok := o.(random)
	return ok
}
