package op

import "github.com/burngen/burngen/ir"

// Detach is its operand, whose gradient is zero (PyTorch detach).
type Detach struct{}

// Infer gives the operand's type.
func (Detach) Infer(in []ir.Type) ([]ir.Type, error) { return in, tensors(in, 1, 1) }

// Eval gives the operand.
func (Detach) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return in, nil }

// Lower gives the operand.
func (Detach) Lower(_ *ir.Builder, n *ir.Node) []*ir.Value { return []*ir.Value{n.Arg(0)} }

// Grad is zero.
func (Detach) Grad(*ir.Builder, *ir.Node, []*ir.Value, []bool) []*ir.Value { return []*ir.Value{nil} }

// IsIdentity reports true.
func (Detach) IsIdentity(ir.Type) bool { return true }
