package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// lowerTexts expands the operands of an elementwise operator on strings to the shape of its result. Other
// elementwise operators become part of [Pointwise] regions, which broadcast operands as they read them, but do not
// support strings. lowerTexts returns nil if the operands already have the shape of the result.
func lowerTexts(b *ir.Builder, n *ir.Node) []*ir.Value {
	if !slices.ContainsFunc(n.Args, func(a *ir.Value) bool { return a.Type.DType == ir.String }) {
		return nil
	}
	args, changed := make([]*ir.Value, len(n.Args)), false
	for i, a := range n.Args {
		args[i] = ExpandTo(b, a, n.Results[0].Type.Shape...)
		changed = changed || args[i] != a
	}
	if !changed {
		return nil
	}
	return b.Nodes(n.Op, args...)
}
