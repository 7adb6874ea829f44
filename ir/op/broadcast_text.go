package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// lowerTexts repeats the operands of an elementwise operator to the shape of its
// result where one of them is a string tensor: strings stand in no [Pointwise]
// region, where operands are repeated as they are read. It is nil where nothing
// has to be repeated.
func lowerTexts(b *ir.Builder, n *ir.Node) []*ir.Value {
	if !slices.ContainsFunc(n.Args, func(a *ir.Value) bool { return a.Type.DType == ir.String }) {
		return nil
	}
	args, changed := make([]*ir.Value, len(n.Args)), false
	for i, a := range n.Args {
		args[i] = expand(b, a, n.Results[0].Type.Shape...)
		changed = changed || args[i] != a
	}
	if !changed {
		return nil
	}
	return b.Nodes(n.Op, args...)
}
