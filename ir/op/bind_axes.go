package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// BindAxes binds two symbols for each axis of Shape: its extent where a list of
// axes does not name it, else 1, and its extent where the list names it, else 1. Axes
// may be negative, and may not repeat; an empty list stands for all where All is set.
type BindAxes struct {
	Bound
	Shape []ir.Dim
	All   bool
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
func (op BindAxes) Infer(in []ir.Type) ([]ir.Type, error) { return op.infer(in, 2*len(op.Shape)) }

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

// BindValues sorts the extents.
func (op BindAxes) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	shape, _ := ir.Ints(op.Shape)
	named, err := namedAxes(in[0], len(shape))
	if err != nil {
		return nil, err
	}
	return op.each(func(i int) (int64, error) {
		if second := i%2 == 1; second == (named[i/2] || op.All && in[0].Len() == 0) {
			return int64(shape[i/2]), nil
		}
		return 1, nil
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

// Measure is cpu.MarkedExtent for each number.
func (op BindAxes) Measure(*ir.Node) ([]ir.Call, error) {
	return op.measures("MarkedExtent", ir.In(0), op.Shape, op.All)
}

// Measure is cpu.SqueezedExtent for each axis that is left.
func (op BindSqueeze) Measure(*ir.Node) ([]ir.Call, error) {
	return op.measures("SqueezedExtent", ir.In(0), op.Shape, len(op.Symbols))
}

// Measure is cpu.UnsqueezedExtent for each axis of the result.
func (op BindUnsqueeze) Measure(*ir.Node) ([]ir.Call, error) {
	return op.measures("UnsqueezedExtent", ir.In(0), op.Shape, len(op.Symbols))
}

// markedAxes returns what [BindAxes] binds for a list of axes of a shape that is known
// when the model runs.
func markedAxes(b *ir.Builder, axes *ir.Value, shape []ir.Dim, all bool) []ir.Dim {
	bind := BindAxes{newBound(b, "axis", 2*len(shape)), shape, all}
	b.Nodes(bind, intList(b, axes))
	return bind.dims()
}
