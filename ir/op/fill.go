package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Fill returns a tensor of Shape. All its elements equal the only element of Value.
type Fill struct {
	Value *ir.Tensor
	Shape []dim.Dim
}

// Infer returns the element type of Value with the shape Shape. It returns an error unless Value has exactly one
// element.
func (op Fill) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 0, 0); err != nil {
		return nil, err
	}
	if op.Value == nil || op.Value.Len() != 1 {
		return nil, fmt.Errorf("one value expected")
	}
	return []ir.Type{ir.TensorOf(op.Value.DType, op.Shape...)}, nil
}

// Eval returns Value repeated to Shape. The tensor stores a single element.
func (op Fill) Eval([]*ir.Tensor) ([]*ir.Tensor, error) {
	shape, ok := dim.Ints(op.Shape)
	if !ok {
		return nil, fmt.Errorf("shape %s has no value", ShapeText(op.Shape))
	}
	if _, err := ir.CheckedLen(shape); err != nil {
		return nil, err
	}
	return []*ir.Tensor{ir.Splat(op.Value, shape...)}, nil
}

// fill appends a tensor of the given shape. All its elements are the element of value. The tensor is a constant if
// the shape is known.
func fill(b *ir.Builder, value *ir.Tensor, shape ...dim.Dim) *ir.Value {
	if n, ok := dim.Ints(shape); ok {
		if _, err := ir.CheckedLen(n); err == nil {
			return b.Const(ir.Splat(value, n...))
		}
	}
	return b.Node(Fill{Value: value, Shape: shape})
}

// Full appends a tensor of type t. All its elements are v.
func Full(b *ir.Builder, t ir.Type, v float64) *ir.Value {
	return fill(b, ir.Scalar(t.DType, v), t.Shape...)
}

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

// IsMemoryBound marks the operator as bound by memory bandwidth.
func (Fill) IsMemoryBound() {}
