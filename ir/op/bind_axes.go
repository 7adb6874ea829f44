package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// BindAxes binds a symbol for each of Rank axes to 1 where a list of axes names it
// and to 0 elsewhere. Axes may be negative, and may not repeat; an empty list
// stands for all where All is set.
type BindAxes struct {
	Bound
	Rank int
	All  bool
}

// BindSqueeze binds the extents of a tensor of Shape without the axes that a list
// names, which have to be 1: those that are left are as many as the symbols.
type BindSqueeze struct {
	Bound
	Shape []ir.Dim
}

// BindUnsqueeze binds the extents of a tensor of Shape with axes of extent 1 put
// where the result is to have those that a list names: as many as the symbols.
type BindUnsqueeze struct {
	Bound
	Shape []ir.Dim
}

// Infer checks the list.
func (op BindAxes) Infer(in []ir.Type) ([]ir.Type, error) { return op.infer(in, op.Rank) }

// Infer checks the list.
func (op BindSqueeze) Infer(in []ir.Type) ([]ir.Type, error) {
	return op.infer(in, min(len(op.Symbols), len(op.Shape)))
}

// Infer checks the list.
func (op BindUnsqueeze) Infer(in []ir.Type) ([]ir.Type, error) {
	return op.infer(in, max(len(op.Symbols), len(op.Shape)))
}

// namedAxes returns which axes of a rank a list names.
func namedAxes(list *ir.Tensor, rank int) ([]bool, error) {
	axes := make([]int, list.Len())
	for i := range axes {
		axes[i] = int(list.Int(i))
	}
	axes, err := axesFromFront(axes, rank)
	named := make([]bool, rank)
	for _, a := range axes {
		named[a] = true
	}
	return named, err
}

// BindValues marks the axes.
func (op BindAxes) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	named, err := namedAxes(in[0], op.Rank)
	if err != nil {
		return nil, err
	}
	return op.each(func(i int) (int64, error) {
		if named[i] || op.All && in[0].Len() == 0 {
			return 1, nil
		}
		return 0, nil
	})
}

// BindValues drops the axes.
func (op BindSqueeze) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	shape, _ := ir.Ints(op.Shape)
	named, err := namedAxes(in[0], len(shape))
	if err != nil {
		return nil, err
	}
	var left []int
	for i, d := range shape {
		switch {
		case !named[i]:
			left = append(left, d)
		case d != 1:
			return nil, fmt.Errorf("axis %d has extent %d, not 1", i, d)
		}
	}
	return op.extents(left)
}

// extents returns the values of as many symbols.
func (op Bound) extents(shape []int) ([]int64, error) {
	if len(shape) != len(op.Symbols) {
		return nil, fmt.Errorf("rank %d, %d expected", len(shape), len(op.Symbols))
	}
	return op.each(func(i int) (int64, error) { return int64(shape[i]), nil })
}

// BindValues puts the axes in.
func (op BindUnsqueeze) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	rest, _ := ir.Ints(op.Shape)
	named, err := namedAxes(in[0], len(op.Symbols))
	if err != nil {
		return nil, err
	}
	var shape []int
	for _, one := range named {
		switch {
		case one:
			shape = append(shape, 1)
		case len(rest) > 0:
			shape, rest = append(shape, rest[0]), rest[1:]
		}
	}
	return op.extents(shape)
}

// Measure is cpu.AxisMark for each axis.
func (op BindAxes) Measure(*ir.Node) ([]ir.Call, error) {
	return op.measures("AxisMark", ir.In(0), op.Rank, op.All)
}

// Measure is cpu.SqueezedExtent for each axis that is left.
func (op BindSqueeze) Measure(*ir.Node) ([]ir.Call, error) {
	return op.measures("SqueezedExtent", ir.In(0), op.Shape, len(op.Symbols))
}

// Measure is cpu.UnsqueezedExtent for each axis of the result.
func (op BindUnsqueeze) Measure(*ir.Node) ([]ir.Call, error) {
	return op.measures("UnsqueezedExtent", ir.In(0), op.Shape, len(op.Symbols))
}

// markedAxes returns, for each axis of a rank, the expression that is 1 where a
// list, known when the model runs, names it, and 0 elsewhere.
func markedAxes(b *ir.Builder, axes *ir.Value, rank int, all bool) []ir.Dim {
	bind := BindAxes{newBound(b, "axis", rank), rank, all}
	b.Nodes(bind, intList(b, axes))
	return bind.dims()
}

// splitMarked returns x with two axes for each one of extent d: the first has
// extent d where the axis is not marked, the second where it is, and the other has
// extent 1. What works along the second of each pair works along the marked axes.
func splitMarked(b *ir.Builder, x *ir.Value, marks []ir.Dim) *ir.Value {
	one := ir.Const(1)
	shape := make([]ir.Dim, 0, 2*len(marks))
	for i, d := range x.Type.Shape {
		marked := d.Sub(one).Mul(marks[i])
		shape = append(shape, d.Sub(marked), one.Add(marked))
	}
	return b.Node(Reshape{Shape: shape}, x)
}
