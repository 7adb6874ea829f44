package op

import (
	"errors"
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importVariadic returns the import function of an operator with one or more operands (ONNX Min, Max, Sum). It
// applies op to the first two operands, then to the result and the third, and so on. Before opset 8 the operands
// have equal shapes.
func importVariadic(op ir.Op) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		v, err := chain(c, op)
		return []*ir.Value{v}, err
	}
}

func importMean(c ir.Importer) ([]*ir.Value, error) {
	sum, err := chain(c, Add{})
	if err != nil {
		return nil, err
	}
	b := c.Builder()
	return []*ir.Value{b.Node(Div{}, sum, b.Scalar(sum.Type.DType, float64(c.NumArgs())))}, nil
}

func chain(c ir.Importer, op ir.Op) (*ir.Value, error) {
	consumed(c)
	if c.NumArgs() == 0 || c.Arg(0) == nil {
		return nil, errors.New("no operands")
	}
	v := c.Arg(0)
	for i := 1; i < c.NumArgs(); i++ {
		x := c.Arg(i)
		if x == nil {
			return nil, fmt.Errorf("operand %d is absent", i)
		}
		if c.Opset() < 8 && x.Type.Rank() != v.Type.Rank() {
			return nil, fmt.Errorf("shapes %s and %s differ", v.Type, x.Type)
		}
		v = c.Builder().Node(op, v, x)
	}
	return v, nil
}
