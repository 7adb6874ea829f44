package pass

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// mergeCopies makes a copy of what another copy, or a reshape of one, has moved read the
// first one's operand, a reshape of copies that leave all elements in their places, and
// packs matrices that a copy transposes from its operand.
func mergeCopies(_ *Context, m *ir.Module) (bool, error) {
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		if pack, ok := n.Op.(op.PackPanels); ok {
			return packTransposed(b, n, pack)
		}
		outer, ok := n.Op.(op.StridedCopy)
		if !ok {
			return nil
		}
		from := n.Args[0]
		for {
			r, _, ok := madeBy[op.Reshape](from)
			if !ok {
				break
			}
			from = r.Args[0]
		}
		moved, inner, ok := madeBy[op.StridedCopy](from)
		if !ok {
			return nil
		}
		c, ok := outer.After(inner)
		if !ok {
			return nil
		}
		x, shape := moved.Args[0], n.Results[0].Type.Shape
		if c.Offset.Equal(ir.Dim{}) && ir.Product(c.Shape...).Equal(x.Type.Elems()) && inOrder(c) {
			if x.Type.Equal(n.Results[0].Type) {
				return []*ir.Value{x}
			}
			return []*ir.Value{b.Node(op.Reshape{Shape: shape}, x)}
		}
		return []*ir.Value{reshaped(b, b.Node(c, x), shape...)}
	})
}

// packTransposed packs the operand of a copy that swaps the last two axes.
func packTransposed(b *ir.Builder, n *ir.Node, pack op.PackPanels) []*ir.Value {
	moved, c, ok := madeBy[op.StridedCopy](n.Args[0])
	if !ok {
		return nil
	}
	x, last := moved.Args[0], len(c.Shape)-1
	from, strides := slices.Clone(c.Shape), slices.Clone(c.Strides)
	from[last-1], from[last] = from[last], from[last-1]
	strides[last-1], strides[last] = strides[last], strides[last-1]
	swapped := op.StridedCopy{Shape: from, Strides: strides}
	if !c.Offset.Equal(ir.Dim{}) || !inOrder(swapped) || !ir.Product(from...).Equal(x.Type.Elems()) {
		return nil
	}
	return []*ir.Value{b.Node(op.PackPanels{Trans: !pack.Trans}, reshaped(b, x, from...))}
}

// inOrder reports whether a copy reads elements one after the other.
func inOrder(c op.StridedCopy) bool {
	dense := rowMajor(c.Shape)
	return !slices.ContainsFunc(seq(len(dense)), func(i int) bool {
		return !c.Shape[i].Equal(ir.Const(1)) && !c.Strides[i].Equal(dense[i])
	})
}
