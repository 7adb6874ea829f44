package pass

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// decomposeOps replaces operators by others, except where assign_layout may
// compute them in the channel-blocked layout. What is made of convolutions shows
// them to that pass.
func decomposeOps(_ *Context, m *ir.Module) (bool, error) {
	return lowerWhere(m, func(n *ir.Node) bool { return !mayRelayout(n) })
}

// mayRelayout reports whether n can be computed on channel-blocked operands.
func mayRelayout(n *ir.Node) bool {
	_, blocker := n.Op.(op.Blocker)
	return blocker && slices.ContainsFunc(n.Args, func(v *ir.Value) bool {
		if v == nil {
			return false
		}
		_, ok := op.Blocked(v.Type)
		return ok
	})
}
