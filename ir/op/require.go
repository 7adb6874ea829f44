package op

import (
	"errors"

	"github.com/burngen/burngen/ir"
)

// Require is an error where its operand, a boolean of one element, is not Value:
// What says why that cannot be. It has no results.
type Require struct {
	Value bool
	What  string
}

// Infer gives no results.
func (op Require) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	return nil, isFlag(in[0], "condition")
}

// Eval compares the operand.
func (op Require) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if in[0].Bool(0) != op.Value {
		return nil, errors.New(op.What)
	}
	return nil, nil
}

// HasEffect marks that the check is kept.
func (op Require) HasEffect() {}

// Call is cpu.Require.
func (op Require) Call(*ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "Require", Args: []any{ir.InScalar(0), op.Value, op.What}}, nil
}
