package op

import (
	"github.com/burngen/burngen/ir"
)

// stridedView is how a tensor's elements lie in another: element (i0, i1, …) is element
// offset + i0·strides[0] + … of base, row-major.
type stridedView struct {
	base    *ir.Value
	strides []ir.Dim
	offset  ir.Dim
}

// viewOf finds where the elements of v come from through reshapes, transposes, slices
// and copies that only move elements. It goes as far as strides can say.
func viewOf(v *ir.Value) stridedView {
	view := stridedView{base: v, strides: strides(v.Type.Shape)}
	shape := v.Type.Shape
	for view.base.Def != nil {
		n := view.base.Def
		if _, ok := n.Op.(Reshape); ok {
			view.base = n.Args[0] // which has the same elements in the same order
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

// copyOf returns the copy that n is.
func copyOf(n *ir.Node) (c StridedCopy, ok bool) {
	switch o := n.Op.(type) {
	case StridedCopy:
		return o, true
	case Slice:
		return o.strided(n.Args[0].Type, ir.Dims(o.Steps...)), true
	case Transpose:
		return o.strided(n.Args[0].Type), true
	}
	return c, false
}

// through makes the strides of a view of a copy's result those of a view of its
// operand; it reports whether there are such.
func (s *stridedView) through(c StridedCopy, shape []ir.Dim) bool {
	view, ok := StridedCopy{Shape: shape, Strides: s.strides, Offset: s.offset}.After(c)
	if !ok || len(view.Shape) != len(shape) {
		return false
	}
	s.strides, s.offset = view.Strides, view.Offset
	return true
}

// After returns the copy that reads the operand of another, inner, as op reads its
// result, or a reshape of that; ok is false where strides cannot say. It may have
// several axes, one after the other, where op has one.
func (op StridedCopy) After(inner StridedCopy) (c StridedCopy, ok bool) {
	if ir.Product(inner.Shape...).Equal(ir.Dim{}) {
		return c, false
	}
	if c, ok := op.through(inner); ok {
		return c, true
	}
	return op.through(inner.joined())
}

// through is After where each axis of op moves along axes of inner as they are.
func (op StridedCopy) through(inner StridedCopy) (c StridedCopy, ok bool) {
	dense, room := strides(inner.Shape), make([]ir.Dim, len(inner.Shape))
	rest := op.Offset
	c.Offset = inner.Offset
	one := ir.Const(1)
	for j, n := range inner.Shape {
		room[j] = n.Sub(one)
		if at := rest.FloorDiv(dense[j]); at.IsConst() {
			rest = rest.Sub(at.Mul(dense[j]))
			room[j] = room[j].Sub(at)
			c.Offset = c.Offset.Add(at.Mul(inner.Strides[j]))
		}
	}
	if !rest.Equal(ir.Dim{}) {
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

// joined returns the copy with neighbouring axes made one where the second goes on
// where the first one's step ends, and without axes of extent 1.
func (op StridedCopy) joined() StridedCopy {
	out := StridedCopy{Offset: op.Offset}
	for j, n := range op.Shape {
		last := len(out.Shape) - 1
		switch {
		case n.Equal(ir.Const(1)):
		case last >= 0 && out.Strides[last].Equal(n.Mul(op.Strides[j])):
			out.Shape[last], out.Strides[last] = out.Shape[last].Mul(n), op.Strides[j]
		default:
			out.Shape, out.Strides = append(out.Shape, n), append(out.Strides, op.Strides[j])
		}
	}
	return out
}

// walk returns the axes, and their strides in the operand, by which n elements of the
// result are read in steps of stride, and takes what they cover from the room that is
// left along each axis.
func (op StridedCopy) walk(n, stride ir.Dim, dense, room []ir.Dim) (shape, moved []ir.Dim, ok bool) {
	one := ir.Const(1)
	if n.Equal(one) || stride.Equal(ir.Dim{}) {
		return []ir.Dim{n}, []ir.Dim{{}}, true
	}
	for j, d := range dense {
		steps, ok := stride.DivExact(d)
		if !ok || !steps.NonNegative() {
			continue
		}
		left := room[j].Sub(n.Sub(one).Mul(steps))
		if left.NonNegative() {
			room[j] = left
			return []ir.Dim{n}, []ir.Dim{steps.Mul(op.Strides[j])}, true
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
