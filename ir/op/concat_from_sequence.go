package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// ConcatFromSequence concatenates the elements of a sequence along Axis. With NewAxis it stacks them along a new
// axis, Axis. It checks at run time that the other extents are equal and that the sequence is not empty. Extents
// holds one entry for each axis of the result: the symbol to bind, or "" if the extent is constant.
type ConcatFromSequence struct {
	Axis    int
	NewAxis bool
	Extents []string
}

// Infer returns the type of the concatenation. The extent of an axis is its symbol in Extents. If the symbol is "",
// it is the extent of the sequence's elements, which is constant.
func (op ConcatFromSequence) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckOperands(in, 1, 1); err != nil {
		return nil, err
	}
	elem, err := sequenceElem(in, 0)
	if err != nil {
		return nil, err
	}
	if op.Axis < 0 || op.Axis >= len(op.Extents) {
		return nil, fmt.Errorf("axis %d out of range for rank %d", op.Axis, len(op.Extents))
	}
	if elem.Shape != nil {
		if elem.Shape, err = op.shape(elem); err != nil {
			return nil, err
		}
	}
	out, err := inferItem(elem, op.Extents)
	return []ir.Type{out}, err
}

// shape returns the shape of the result for a sequence of elements of type elem. An extent is [dim.Any] if elem does
// not determine it.
func (op ConcatFromSequence) shape(elem ir.Type) ([]dim.Dim, error) {
	after := op.Axis
	if !op.NewAxis {
		after++
	}
	if after > elem.Rank() {
		return nil, fmt.Errorf("axis %d of elements of rank %d", op.Axis, elem.Rank())
	}
	shape := append(append([]dim.Dim{}, elem.Shape[:op.Axis]...), dim.Any)
	return append(shape, elem.Shape[after:]...), nil
}

// Eval returns the concatenation of the elements. It returns an error if the sequence is empty, or if an element
// does not fit the others.
func (op ConcatFromSequence) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	items := in[0].Items
	if len(items) == 0 {
		return nil, fmt.Errorf("the sequence has no elements")
	}
	parts := make([]*ir.Tensor, len(items))
	for i, t := range items {
		if op.NewAxis != (t.Rank() < len(op.Extents)) {
			return nil, fmt.Errorf("element %d has rank %d", i, t.Rank())
		}
		parts[i] = t
		if op.NewAxis {
			shape := append(append([]int{}, t.Shape[:op.Axis]...), 1)
			parts[i] = t.Reshape(append(shape, t.Shape[op.Axis:]...)...)
		}
	}
	return Concat{Axis: op.Axis}.Eval(parts)
}

// Binds returns the symbols of Extents.
func (op ConcatFromSequence) Binds() []string { return boundExtents(op.Extents) }

// BindValues returns the values of the symbols in Extents, which are extents of the result.
func (op ConcatFromSequence) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return extentValues(op.Extents, out[0].Shape)
}

func importConcatFromSequence(c ir.Importer) ([]*ir.Value, error) {
	b, seq := c.Builder(), c.Arg(0)
	elem, err := sequenceElem([]ir.Type{seq.Type}, 0)
	if err != nil {
		return nil, err
	}
	if !c.Has("axis") {
		return nil, fmt.Errorf("no axis")
	}
	op := ConcatFromSequence{NewAxis: c.Int("new_axis", 0) != 0}
	rank, err := itemRank(c, elem)
	if err != nil {
		return nil, err
	}
	if op.NewAxis && elem.Shape != nil {
		rank++
	}
	if op.Axis, err = fromFront(c.Int("axis", 0), rank); err != nil {
		return nil, err
	}
	if items, ok := knownItems(seq); ok && len(items) > 0 {
		return concatItems(b, items, op.Axis, op.NewAxis)
	}
	shape := itemShape(elem, rank)
	if elem.Shape != nil {
		if shape, err = op.shape(elem); err != nil {
			return nil, err
		}
	}
	op.Extents = newExtents(b, shape)
	return b.Nodes(op, seq), nil
}

func concatItems(b *ir.Builder, items []*ir.Value, axis int, newAxis bool) ([]*ir.Value, error) {
	parts := make([]*ir.Value, len(items))
	for i, v := range items {
		parts[i] = v
		if newAxis {
			shape := append(append([]dim.Dim{}, v.Type.Shape[:axis]...), dim.Const(1))
			parts[i] = ReshapeTo(b, v, append(shape, v.Type.Shape[axis:]...)...)
		}
	}
	if len(parts) == 1 {
		return parts, nil
	}
	return b.Nodes(Concat{Axis: axis}, parts...), nil
}
