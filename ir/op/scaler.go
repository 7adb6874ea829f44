package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func importScaler(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	y := ConvertTo(b, c.Arg(0), ir.F32)
	for _, step := range []struct {
		name string
		op   ir.Op
	}{{"offset", Sub{}}, {"scale", Mul{}}} {
		numbers := c.Floats(step.name, nil)
		if len(numbers) == 0 {
			continue
		}
		x, v, err := perFeature(b, y, ir.FloatTensor(ir.F32, numbers...))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}
		y = b.Node(step.op, x, v)
	}
	return []*ir.Value{y}, nil
}

// perFeature returns x, and numbers as a constant that broadcasts to x. numbers has one element, or one for each
// index of the last axis of x. In the second case, perFeature makes the extent of this axis equal to the length of
// numbers, and returns an error if x has no axis.
func perFeature(b *ir.Builder, x *ir.Value, numbers *ir.Tensor) (*ir.Value, *ir.Value, error) {
	if numbers.Len() == 1 {
		return x, b.Const(numbers.Reshape()), nil
	}
	if x.Type.Rank() == 0 {
		return nil, nil, fmt.Errorf("%d numbers for %s", numbers.Len(), x.Type)
	}
	values := []*ir.Value{x}
	agree(b, x.Type.Shape[x.Type.Rank()-1], dim.Const(numbers.Len()), "features", values)
	return values[0], b.Const(numbers), nil
}
