package gpu

import (
	"slices"

	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// checkIndices replaces the indices or lengths of a node by checked ones. It returns nil if the node has no indices,
// if no kernel computes the node, or if all indices are certainly in range.
func checkIndices(b *ir.Builder, n *ir.Node) []*ir.Value {
	operand, check, ok := launch.Indices(n)
	if !ok || inRange(n.Args[operand], check) {
		return nil
	}
	if _, err := launch.Of(n, launch.Options{}); err != nil {
		return nil
	}
	args := slices.Clone(n.Args)
	args[operand] = b.Node(check, args[operand])
	return b.Nodes(n.Op, args...)
}

func inRange(indices *ir.Value, check op.CheckIndex) bool {
	if indices.Def == nil {
		return false
	}
	switch o := indices.Def.Op.(type) {
	case op.CheckIndex:
		return o.FromEnd == check.FromEnd && o.Count.Equal(check.Count)
	case op.PadIndex:
		return o.Extent.Equal(check.Count)
	case ir.Constant:
		_, err := check.Eval([]*ir.Tensor{o.Value})
		return err == nil
	}
	return false
}
