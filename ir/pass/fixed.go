package pass

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// fixed caches whether values are known to depend on weights and constants only. Such values are the same in every
// run.
type fixed map[*ir.Value]bool

// Fixed returns a function that reports whether a value is known to depend on weights and constants only. Such a
// value can be computed once.
func Fixed() func(v *ir.Value) bool { return fixed{}.has }

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

// made reports whether all results of n are known to be fixed, because n computes them from fixed values.
func (f fixed) made(n *ir.Node) bool {
	_, binder := n.Op.(ir.Binder)
	_, invoke := n.Op.(ir.Invoke)
	if binder || invoke || !isPure(n.Op) || len(n.Args) == 0 || len(n.Blocks) > 0 && !isFused(n.Op) {
		return false
	}
	for _, r := range n.Results {
		if !r.Type.IsTensor() || !r.Type.IsStatic() || r.Type.DType == ir.String {
			return false
		}
	}
	symbolic := false
	ir.SubstOp(n.Op, func(string) (dim.Dim, bool) { symbolic = true; return dim.Dim{}, false })
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

// isLeaf reports whether n is a weight or a constant of the module, or fills a tensor whose shape is static.
func isLeaf(n *ir.Node) bool {
	_, fill := n.Op.(op.Fill)
	return n.IsStored() || fill && n.Results[0].Type.IsStatic()
}

// isPure reports whether nodes of an operator may be evaluated, recomputed or merged. The nodes must have no effect
// except their results, must not draw random numbers, and must not call code of the user's program.
func isPure(o ir.Op) bool {
	_, effect := o.(ir.Effect)
	_, opaque := o.(ir.Opaque)
	return !effect && !opaque && !isRandom(o)
}

type random interface{ IsRandom() }

func isRandom(o ir.Op) bool {
	_, ok := o.(random)
	return ok
}
