package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Fill is a tensor of Shape whose elements are all equal to the only element of
// Value.
type Fill struct {
	Value *ir.Tensor
	Shape []ir.Dim
}

// Infer gives the result the value's element type and the shape.
func (op Fill) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 0, 0); err != nil {
		return nil, err
	}
	if op.Value == nil || op.Value.Len() != 1 {
		return nil, fmt.Errorf("one value expected")
	}
	return []ir.Type{ir.TensorOf(op.Value.DType, op.Shape...)}, nil
}

// Eval returns a splat.
func (op Fill) Eval([]*ir.Tensor) ([]*ir.Tensor, error) {
	shape, ok := ir.Ints(op.Shape)
	if !ok {
		return nil, fmt.Errorf("shape %s has no value", shapeText(op.Shape))
	}
	if _, err := ir.CheckedLen(shape); err != nil {
		return nil, err
	}
	return []*ir.Tensor{ir.Splat(op.Value, shape...)}, nil
}

// Call is cpu.Fill.
func (op Fill) Call(*ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "Fill", Args: []any{ir.Out(0), constantArg(op.Value)}}, nil
}

// fill appends a tensor of equal elements: a constant where its shape is known.
func fill(b *ir.Builder, value *ir.Tensor, shape ...ir.Dim) *ir.Value {
	if n, ok := ir.Ints(shape); ok {
		if _, err := ir.CheckedLen(n); err == nil {
			return b.Const(ir.Splat(value, n...))
		}
	}
	return b.Node(Fill{Value: value, Shape: shape})
}

// Full appends a tensor of type t whose elements are all v.
func Full(b *ir.Builder, t ir.Type, v float64) *ir.Value {
	return fill(b, ir.Scalar(t.DType, v), t.Shape...)
}

// importConstantOfShape reads ConstantOfShape, zeros of f32 without a value.
func importConstantOfShape(c ir.Importer) ([]*ir.Value, error) {
	value := c.Tensor("value")
	if value == nil {
		value = ir.FloatTensor(ir.F32, 0)
	}
	if value.Len() != 1 {
		return nil, fmt.Errorf("value has %d elements, one expected", value.Len())
	}
	shape, err := boundDims(c, 0, "input")
	if err != nil {
		return nil, err
	}
	return []*ir.Value{fill(c.Builder(), value.Reshape(), shape...)}, nil
}

// IsMemoryBound marks the operator.
func (Fill) IsMemoryBound() {}
