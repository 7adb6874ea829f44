package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Noise is its operand, of floats. While a model is trained, normally distributed
// numbers of mean 0 and this deviation are added to it, which depend on Site, and differ
// from step to step.
type Noise struct {
	Deviation float64
	Site      int64
}

// Infer gives the operand's type.
func (op Noise) Infer(in []ir.Type) ([]ir.Type, error) {
	if !(op.Deviation >= 0) {
		return nil, fmt.Errorf("the deviation %g is negative", op.Deviation)
	}
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	return in, checkDomain(in, floats{})
}

// Eval gives the operand.
func (Noise) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return in[:1], nil }

// Lower gives the operand.
func (Noise) Lower(_ *ir.Builder, n *ir.Node) []*ir.Value { return []*ir.Value{n.Arg(0)} }

// Grad is the result's.
func (Noise) Grad(_ *ir.Builder, _ *ir.Node, of []*ir.Value, _ []bool) []*ir.Value { return of }

// Train adds numbers.
func (op Noise) Train(b *ir.Builder, n *ir.Node, t ir.Training) []*ir.Value {
	x := n.Arg(0)
	numbers := RandomNormal{DType: wide(x.Type.DType), Shape: x.Type.Shape, Scale: op.Deviation, Seed: op.Site}
	return []*ir.Value{b.Node(Add{}, x, convert(b, b.Node(numbers, t.Key(b)), x.Type.DType))}
}

// IsIdentity reports true.
func (Noise) IsIdentity(ir.Type) bool { return true }
