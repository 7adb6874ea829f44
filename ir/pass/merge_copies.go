package pass

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// mergeCopies removes copies. Where strides can express it, a copy of a copy becomes one copy of
// the inner copy's operand, even if there are reshapes between the two. If this copy would move no
// elements, a reshape replaces it. If a copy only transposes matrices and an [op.TransposedReader]
// reads it, the reader reads the copy's operand instead.
func mergeCopies(_ *Context, m *ir.Module) (changed bool, err error) {
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		if o, ok := n.Op.(op.TransposedReader); ok {
			return readTransposed(b, n, o)
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
		if c.Offset.Equal(dim.Dim{}) && dim.Product(c.Shape...).Equal(x.Type.Elems()) && inOrder(c) {
			if x.Type.Equal(n.Results[0].Type) {
				return []*ir.Value{x}
			}
			return []*ir.Value{b.Node(op.Reshape{Shape: shape}, x)}
		}
		return []*ir.Value{reshaped(b, b.Node(c, x), shape...)}
	})
}

// inOrder reports whether a copy reads the elements in the order in which they are stored.
func inOrder(c op.StridedCopy) bool {
	dense := op.RowMajor(c.Shape)
	return !slices.ContainsFunc(seq(len(dense)), func(i int) bool {
		return !c.Shape[i].Equal(dim.Const(1)) && !c.Strides[i].Equal(dense[i])
	})
}

// readTransposed returns a replacement for n, whose operator is o. If the first operand of n is a
// copy that only transposes matrices, the replacement applies o.ReadTransposed() to the operand of
// this copy. Otherwise readTransposed returns nil.
func readTransposed(b *ir.Builder, n *ir.Node, o op.TransposedReader) []*ir.Value {
	copied, c, ok := madeBy[op.StridedCopy](n.Args[0])
	if !ok || len(c.Shape) < 2 || !c.Offset.Equal(dim.Dim{}) || len(c.Shape) != n.Args[0].Type.Rank() {
		return nil
	}
	shape, strides, last := slices.Clone(c.Shape), slices.Clone(c.Strides), len(c.Shape)-1
	shape[last], shape[last-1] = shape[last-1], shape[last]
	strides[last], strides[last-1] = strides[last-1], strides[last]
	if !dim.Product(shape...).Equal(copied.Args[0].Type.Elems()) || !inOrder(op.StridedCopy{Shape: shape, Strides: strides}) {
		return nil
	}
	return []*ir.Value{b.Node(o.ReadTransposed(), reshaped(b, copied.Args[0], shape...))}
}
