package op

import (
	"slices"

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
// operand; it reports whether there are such. Each axis of the view has to move along
// one axis of the copy, and all together within it.
func (s *stridedView) through(c StridedCopy, shape []ir.Dim) bool {
	one := ir.Const(1)
	if !s.offset.Equal(ir.Dim{}) {
		return false
	}
	dense, moved := strides(c.Shape), make([]ir.Dim, len(shape))
	room := make([]ir.Dim, len(c.Shape))
	for j, n := range c.Shape {
		room[j] = n.Sub(one)
	}
	for i, n := range shape {
		if n.Equal(one) {
			continue
		}
		along := slices.IndexFunc(dense, func(d ir.Dim) bool {
			_, ok := s.strides[i].DivExact(d)
			return ok && !d.Equal(ir.Dim{})
		})
		for along >= 0 && along < len(dense) && c.Shape[along].Equal(one) {
			along++
		}
		if along < 0 || along == len(dense) {
			return false
		}
		steps, ok := s.strides[i].DivExact(dense[along])
		if !ok {
			return false
		}
		room[along] = room[along].Sub(n.Sub(one).Mul(steps))
		moved[i] = steps.Mul(c.Strides[along])
	}
	for _, r := range room {
		if !r.NonNegative() {
			return false
		}
	}
	s.strides, s.offset = moved, c.Offset
	return true
}
