package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func importGivenTensorFill(c ir.Importer) ([]*ir.Value, error) {
	values := c.Floats("values", nil)
	shape, err := filledShape(c)
	if err != nil {
		return nil, err
	}
	if n := dim.Product(shape...); !n.Equal(dim.Const(len(values))) {
		return nil, fmt.Errorf("%d values for %s elements", len(values), n)
	}
	b := c.Builder()
	return []*ir.Value{ReshapeTo(b, b.Const(ir.FloatTensor(ir.F32, values...)), shape...)}, nil
}

func importConstantFill(c ir.Importer) ([]*ir.Value, error) {
	shape, err := filledShape(c)
	if err != nil {
		return nil, err
	}
	d := c.DType("dtype", ir.F32)
	if d == ir.String {
		return nil, fmt.Errorf("not defined for %s", d)
	}
	return []*ir.Value{fill(c.Builder(), ir.Scalar(d, c.Float("value", 0)), shape...)}, nil
}

// filledShape returns the shape to fill. It is an attribute, the shape of an operand or, with input_as_shape, the
// elements of an operand. If the shape comes from an operand, the attribute extra_shape is appended. filledShape
// returns an error if both an attribute and an operand give a shape.
func filledShape(c ir.Importer) ([]dim.Dim, error) {
	shape, extra := c.Ints("shape", nil), c.Ints("extra_shape", nil)
	elements := c.Int("input_as_shape", 0) != 0
	x := c.Arg(0)
	if x == nil {
		return dim.Consts(shape...), nil
	}
	if shape != nil {
		return nil, fmt.Errorf("shape %v beside an operand", shape)
	}
	if !elements {
		return append(x.Type.Shape[:len(x.Type.Shape):len(x.Type.Shape)], dim.Consts(extra...)...), nil
	}
	dims, err := boundDims(c, 0, "shape")
	return append(dims, dim.Consts(extra...)...), err
}
