package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func importBinary(op ir.Op) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		y, err := broadcastOperand(c)
		if err != nil {
			return nil, err
		}
		return []*ir.Value{c.Builder().Node(op, c.Arg(0), y)}, nil
	}
}

// broadcastOperand returns the second operand. From opset 7 on, it is unchanged. Before opset 7, the attribute
// broadcast requests broadcasting. The attribute axis says which axis of the first operand is aligned with the first
// axis of the second operand. broadcastOperand then appends axes of extent 1 to the second operand: for axis 1 and a
// first operand [N,C,H,W], it reshapes [C] to [C,1,1]. It returns an error if the second operand does not fit in the
// axes of the first, or if the ranks differ without broadcast.
func broadcastOperand(c ir.Importer) (*ir.Value, error) {
	x, y := c.Arg(0), c.Arg(1)
	if c.Opset() >= 7 {
		return y, nil
	}
	consumed(c)
	rank := x.Type.Rank()
	axis := c.Int("axis", rank-y.Type.Rank())
	if c.Int("broadcast", 0) == 0 {
		if rank != y.Type.Rank() {
			return nil, fmt.Errorf("shapes %s and %s without broadcast", x.Type, y.Type)
		}
		return y, nil
	}
	if axis < 0 {
		axis += rank
	}
	if axis < 0 || axis+y.Type.Rank() > rank {
		return nil, fmt.Errorf("axis %d for shapes %s and %s", axis, x.Type, y.Type)
	}
	return trailingOnes(c.Builder(), y, rank-axis), nil
}

// trailingOnes appends v with axes of extent 1 added at the end, so that it has the given rank.
func trailingOnes(b *ir.Builder, v *ir.Value, rank int) *ir.Value {
	shape := v.Type.Shape
	for len(shape) < rank {
		shape = append(shape[:len(shape):len(shape)], dim.Const(1))
	}
	return ReshapeTo(b, v, shape...)
}
