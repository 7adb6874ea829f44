package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func importShape(c ir.Importer) ([]*ir.Value, error) {
	shape, err := tensorShape(c)
	if err != nil {
		return nil, err
	}
	start, end := 0, len(shape)
	if c.Opset() >= 15 {
		start, end = clampAxis(c.Int("start", 0), len(shape)), clampAxis(c.Int("end", len(shape)), len(shape))
	}
	return []*ir.Value{c.Builder().Dims(shape[start:max(start, end)]...)}, nil
}

func clampAxis(axis, rank int) int {
	if axis < 0 {
		axis += rank
	}
	return min(max(axis, 0), rank)
}

func importSize(c ir.Importer) ([]*ir.Value, error) {
	shape, err := tensorShape(c)
	if err != nil {
		return nil, err
	}
	size := ir.Extents{Type: ir.StaticTensor(ir.I64), Elems: []dim.Dim{dim.Product(shape...)}}
	return []*ir.Value{c.Builder().Node(size)}, nil
}

func tensorShape(c ir.Importer) ([]dim.Dim, error) {
	if x := c.Arg(0); !x.Type.IsTensor() {
		return nil, fmt.Errorf("operand 0 is %s, a tensor expected", x.Type)
	}
	return c.Arg(0).Type.Shape, nil
}
