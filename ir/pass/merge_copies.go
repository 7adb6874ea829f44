package pass

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// mergeCopies makes a copy of what another copy, or a reshape of one, has moved read the
// first one's operand, a reshape of copies that leave all elements in their places, and panels
// of a transpose read what it transposes.
func mergeCopies(_ *Context, m *ir.Module) (bool, error) {
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		if panels, ok := n.Op.(op.PackPanels); ok {
			return packTransposed(b, n, panels)
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

// inOrder reports whether a copy reads elements one after the other.
func inOrder(c op.StridedCopy) bool {
	dense := op.RowMajor(c.Shape)
	return !slices.ContainsFunc(seq(len(dense)), func(i int) bool {
		return !c.Shape[i].Equal(ir.Const(1)) && !c.Strides[i].Equal(dense[i])
	})
}

// packTransposed makes panels of matrices that a copy has transposed of those before it.
func packTransposed(b *ir.Builder, n *ir.Node, panels op.PackPanels) []*ir.Value {
	copied, c, ok := madeBy[op.StridedCopy](n.Args[0])
	if !ok || len(c.Shape) < 2 || !c.Offset.Equal(ir.Dim{}) || len(c.Shape) != n.Args[0].Type.Rank() {
		return nil
	}
	shape, strides, last := slices.Clone(c.Shape), slices.Clone(c.Strides), len(c.Shape)-1
	shape[last], shape[last-1] = shape[last-1], shape[last]
	strides[last], strides[last-1] = strides[last-1], strides[last]
	if !ir.Product(shape...).Equal(copied.Args[0].Type.Elems()) || !inOrder(op.StridedCopy{Shape: shape, Strides: strides}) {
		return nil
	}
	panels.Trans = !panels.Trans
	return []*ir.Value{b.Node(panels, reshaped(b, copied.Args[0], shape...))}
}
