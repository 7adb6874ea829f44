package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// BindAxes binds two symbols for each axis of Shape. Its operand is a list of axes. For an axis in the list, the
// first symbol is 1 and the second is the axis's extent. For another axis, the first is the extent and the second
// is 1. A negative axis counts from the end. The list must not name an axis twice. With All, an empty list means
// all axes.
type BindAxes struct {
	Bound
	Shape []dim.Dim
	All   bool
}

// BindSqueeze binds the extents that remain when axes of extent 1 are removed from Shape. Its operand is the list
// of the removed axes. There is one symbol for each remaining axis.
type BindSqueeze struct {
	Bound
	Shape []dim.Dim
}

// BindUnsqueeze binds the extents of Shape after axes of extent 1 are inserted. Its operand is the list of the
// positions of these axes in the result. There is one symbol for each axis of the result.
type BindUnsqueeze struct {
	Bound
	Shape []dim.Dim
}

// Infer returns an error if the operand is not a list of i64, or if there are not two symbols for each axis of
// Shape. There are no results.
func (op BindAxes) Infer(in []ir.Type) ([]ir.Type, error) { return op.infer(in, 2*len(op.Shape)) }

// Infer returns an error if the operand is not a list of i64, or if there are more symbols than axes of Shape. There
// are no results.
func (op BindSqueeze) Infer(in []ir.Type) ([]ir.Type, error) {
	return op.infer(in, min(len(op.Symbols), len(op.Shape)))
}

// Infer returns an error if the operand is not a list of i64, or if there are fewer symbols than axes of Shape.
// There are no results.
func (op BindUnsqueeze) Infer(in []ir.Type) ([]ir.Type, error) {
	return op.infer(in, max(len(op.Symbols), len(op.Shape)))
}

// namedAxes reports for each of `rank` axes whether the list contains it. It returns an error if an axis is out of
// range or repeated.
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

// BindValues returns two numbers for each axis of Shape: 1 and the extent if the operand lists the axis, and
// otherwise the extent and 1. With All, an empty list means all axes.
func (op BindAxes) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	shape, _ := dim.Ints(op.Shape)
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

// BindValues returns the extents of the axes that are not listed. It returns an error if a listed axis has an
// extent other than 1, is out of range, or is repeated. It also returns an error if the number of symbols differs
// from the number of remaining axes.
func (op BindSqueeze) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	shape, _ := dim.Ints(op.Shape)
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

func (op Bound) extents(shape []int) ([]int64, error) {
	if len(shape) != len(op.Symbols) {
		return nil, fmt.Errorf("rank %d, %d expected", len(shape), len(op.Symbols))
	}
	return op.each(func(i int) (int64, error) { return int64(shape[i]), nil })
}

// BindValues returns the extents of Shape, with ones at the listed positions. It returns an error if a position is
// out of range or repeated, or if the number of symbols differs from the number of extents.
func (op BindUnsqueeze) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	rest, _ := dim.Ints(op.Shape)
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

// markedAxes appends a [BindAxes] of a list of axes that is known only at run time, and returns its
// symbols: two for each axis of shape. `all` is the value of the attribute All.
func markedAxes(b *ir.Builder, axes *ir.Value, shape []dim.Dim, all bool) []dim.Dim {
	bind := BindAxes{newBound(b, "axis", 2*len(shape)), shape, all}
	b.Nodes(bind, intList(b, axes))
	return bind.dims()
}
