package op

import (
	"errors"

	"github.com/burngen/burngen/ir"
)

// Require returns an error with the text What at run time unless its operand, a bool of one element, equals Value.
// Require has no results.
type Require struct {
	Value bool
	What  string
}

// Infer returns no types, because there are no results. It returns an error unless the operand is a
// bool of one element.
func (op Require) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	return nil, isFlag(in[0], "condition")
}

// Eval returns no tensors and a nil error if the operand equals Value, and otherwise an error with the text What.
func (op Require) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if in[0].Bool(0) != op.Value {
		return nil, errors.New(op.What)
	}
	return nil, nil
}

// HasEffect marks the operator as an [ir.Effect], because its nodes have no results.
func (op Require) HasEffect() {}
