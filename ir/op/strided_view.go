package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// stridedView says where the elements of a tensor are in another tensor, base. Element (i0, i1, …) is element
// offset + i0·strides[0] + i1·strides[1] + … of base.
type stridedView struct {
	base    *ir.Value
	strides []dim.Dim
	offset  dim.Dim
}

// viewOf returns a view of v in the value from which v is computed by reshapes, transposes, slices and copies. It
// follows these operators as long as strides can express the view.
func viewOf(v *ir.Value) stridedView {
	view := stridedView{base: v, strides: RowMajor(v.Type.Shape)}
	shape := v.Type.Shape
	for view.base.Def != nil {
		n := view.base.Def
		if _, ok := n.Op.(Reshape); ok {
			view.base = n.Args[0] // with the same elements in the same order
			continue
		}
		c, ok := copyOf(n)
		if !ok || !view.through(c, shape) {
			break
		}
		view.base = n.Args[0]
	}
	return view
}

// copyOf returns a [StridedCopy] that equals n. ok is false unless n is a StridedCopy, a Slice or a Transpose.
func copyOf(n *ir.Node) (c StridedCopy, ok bool) {
	switch o := n.Op.(type) {
	case StridedCopy:
		return o, true
	case Slice:
		return o.strided(n.Args[0].Type, dim.Consts(o.Steps...)), true
	case Transpose:
		return o.strided(n.Args[0].Type), true
	}
	return c, false
}

// through replaces s, a view of the result of copy c, by a view of c's operand. shape is the shape of the view. If
// no strides express this view, through returns false and does not change s.
func (s *stridedView) through(c StridedCopy, shape []dim.Dim) bool {
	view, ok := StridedCopy{Shape: shape, Strides: s.strides, Offset: s.offset}.After(c)
	if !ok || len(view.Shape) != len(shape) {
		return false
	}
	s.strides, s.offset = view.Strides, view.Offset
	return true
}

// After returns one copy that replaces two: inner, and then op on inner's result. op may read that result in another
// shape. ok is false if no strides express such a copy. One axis of op may become several consecutive axes of the copy.
func (op StridedCopy) After(inner StridedCopy) (c StridedCopy, ok bool) {
	if dim.Product(inner.Shape...).Equal(dim.Dim{}) {
		return c, false
	}
	if c, ok := op.through(inner); ok {
		return c, true
	}
	return op.through(inner.joined())
}

// through is [StridedCopy.After] without joining contiguous axes of inner.
func (op StridedCopy) through(inner StridedCopy) (c StridedCopy, ok bool) {
	dense, room := RowMajor(inner.Shape), make([]dim.Dim, len(inner.Shape))
	rest := op.Offset
	c.Offset = inner.Offset
	one := dim.Const(1)
	for j, n := range inner.Shape {
		room[j] = n.Sub(one)
		if at := rest.FloorDiv(dense[j]); at.IsConst() {
			rest = rest.Sub(at.Mul(dense[j]))
			room[j] = room[j].Sub(at)
			c.Offset = c.Offset.Add(at.Mul(inner.Strides[j]))
		}
	}
	if !rest.Equal(dim.Dim{}) {
		return c, false
	}
	for i, n := range op.Shape {
		shape, moved, ok := inner.walk(n, op.Strides[i], dense, room)
		if !ok {
			return c, false
		}
		c.Shape, c.Strides = append(c.Shape, shape...), append(c.Strides, moved...)
	}
	for _, r := range room {
		if !r.NonNegative() {
			return c, false
		}
	}
	return c, true
}

// joined returns the same copy with contiguous axes merged, and without axes of extent 1.
func (op StridedCopy) joined() StridedCopy {
	out := StridedCopy{Offset: op.Offset}
	for j, n := range op.Shape {
		last := len(out.Shape) - 1
		switch {
		case n.Equal(dim.Const(1)):
		case last >= 0 && out.Strides[last].Equal(n.Mul(op.Strides[j])):
			out.Shape[last], out.Strides[last] = out.Shape[last].Mul(n), op.Strides[j]
		default:
			out.Shape, out.Strides = append(out.Shape, n), append(out.Strides, op.Strides[j])
		}
	}
	return out
}

// walk follows n elements of the result that are `stride` elements apart in row-major order. These elements form one
// or more axes: shape holds the extents of the axes, and moved their strides in the operand. dense are the row-major
// strides of the result. room[j] is the number of indices that are left to walk along axis j; walk subtracts the
// indices that it uses. ok is false if axes and strides cannot describe the n elements.
func (op StridedCopy) walk(n, stride dim.Dim, dense, room []dim.Dim) (shape, moved []dim.Dim, ok bool) {
	one := dim.Const(1)
	if n.Equal(one) || stride.Equal(dim.Dim{}) {
		return []dim.Dim{n}, []dim.Dim{{}}, true
	}
	for j, d := range dense {
		steps, ok := stride.DivExact(d)
		if !ok || !steps.NonNegative() {
			continue
		}
		left := room[j].Sub(n.Sub(one).Mul(steps))
		if left.NonNegative() {
			room[j] = left
			return []dim.Dim{n}, []dim.Dim{steps.Mul(op.Strides[j])}, true
		}
		whole, okWhole := op.Shape[j].DivExact(steps)
		outer, okOuter := n.DivExact(whole)
		if j == 0 || !okWhole || !okOuter {
			return nil, nil, false
		}
		room[j] = room[j].Sub(whole.Sub(one).Mul(steps))
		shape, moved, ok := op.walk(outer, d.Mul(op.Shape[j]), dense[:j], room[:j])
		return append(shape, whole), append(moved, steps.Mul(op.Strides[j])), ok
	}
	return nil, nil, false
}
