package op

import "github.com/burngen/burngen/ir"

// Detach returns its operand with zero gradient (PyTorch detach).
type Detach struct{}

// Infer returns the operand's type.
func (Detach) Infer(in []ir.Type) ([]ir.Type, error) { return in, CheckTensors(in, 1, 1) }

// Eval returns the operand.
func (Detach) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return in, nil }

// Lower returns the operand.
func (Detach) Lower(_ *ir.Builder, n *ir.Node) []*ir.Value { return []*ir.Value{n.Arg(0)} }

// Grad returns nil: the gradient is zero.
func (Detach) Grad(*ir.Builder, *ir.Node, []*ir.Value, []bool) []*ir.Value { return []*ir.Value{nil} }

// IsIdentity returns true: the result is the operand.
func (Detach) IsIdentity(ir.Type) bool { return true }
