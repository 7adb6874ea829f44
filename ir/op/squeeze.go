package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// importSqueeze reads Squeeze, which drops axes of extent 1, all of them where
// none are named: a Reshape. The axes are an attribute before opset 13.
func importSqueeze(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	axes, err := attrOrInts(c, 13, "axes", 1)
	if err != nil {
		return nil, err
	}
	rank := x.Type.Rank()
	if axes == nil {
		for i, d := range x.Type.Shape {
			if d.Equal(ir.Const(1)) {
				axes = append(axes, i)
			}
		}
	}
	if axes, err = axesFromFront(axes, rank); err != nil {
		return nil, err
	}
	var shape []ir.Dim
	for i, d := range x.Type.Shape {
		if !slices.Contains(axes, i) {
			shape = append(shape, d)
			continue
		}
		if n, ok := d.Int(); ok && n != 1 {
			return nil, fmt.Errorf("axis %d has extent %d, not 1", i, n)
		}
	}
	return []*ir.Value{reshape(b, x, shape...)}, nil
}

// importUnsqueeze reads Unsqueeze, which puts axes of extent 1 where the result
// is to have them: a Reshape. The axes are an attribute before opset 13.
func importUnsqueeze(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	axes, err := attrOrInts(c, 13, "axes", 1)
	if err != nil {
		return nil, err
	}
	rank := x.Type.Rank() + len(axes)
	if axes, err = axesFromFront(axes, rank); err != nil {
		return nil, err
	}
	shape, rest := make([]ir.Dim, rank), x.Type.Shape
	for i := range shape {
		if slices.Contains(axes, i) {
			shape[i] = ir.Const(1)
			continue
		}
		shape[i], rest = rest[0], rest[1:]
	}
	return []*ir.Value{reshape(c.Builder(), x, shape...)}, nil
}

// importFlatten reads Flatten, which joins the axes before one, and those from
// it on: a Reshape. The axis may be negative from opset 11.
func importFlatten(c ir.Importer) ([]*ir.Value, error) {
	x, axis := c.Arg(0), c.Int("axis", 1)
	shape, rank := x.Type.Shape, x.Type.Rank()
	if axis < -rank || axis > rank {
		return nil, fmt.Errorf("axis %d out of range for rank %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return []*ir.Value{reshape(c.Builder(), x, ir.Product(shape[:axis]...), ir.Product(shape[axis:]...))}, nil
}
