package op

import "github.com/burngen/burngen/ir"

// Dropout is interim.
type Dropout struct {
	Rate float64
	Site int64
}

// Infer gives the operand's type.
func (Dropout) Infer(in []ir.Type) ([]ir.Type, error) { return in, tensors(in, 1, 1) }

// Eval gives the operand.
func (Dropout) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return in, nil }

// Lower gives the operand.
func (Dropout) Lower(_ *ir.Builder, n *ir.Node) []*ir.Value { return []*ir.Value{n.Arg(0)} }
