package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Noise returns its operand, of floats. In training it adds normal random numbers with mean 0 and standard
// deviation Deviation. Site is the seed of these numbers. They also differ between training steps.
type Noise struct {
	Deviation float64
	Site      int64
}

// Infer returns the operand's type.
func (op Noise) Infer(in []ir.Type) ([]ir.Type, error) {
	if !(op.Deviation >= 0) {
		return nil, fmt.Errorf("the deviation %g is negative", op.Deviation)
	}
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	return in, checkDomain(in, floats{})
}

// Eval returns the operand.
func (Noise) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return in[:1], nil }

// Lower returns the operand.
func (Noise) Lower(_ *ir.Builder, n *ir.Node) []*ir.Value { return []*ir.Value{n.Arg(0)} }

// Grad returns dy.
func (Noise) Grad(_ *ir.Builder, _ *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value { return dy }

// Train replaces the node by the operand plus normal random numbers.
func (op Noise) Train(b *ir.Builder, n *ir.Node, t ir.Training) []*ir.Value {
	x := n.Arg(0)
	numbers := RandomNormal{DType: wide(x.Type.DType), Shape: x.Type.Shape, Scale: op.Deviation, Seed: op.Site}
	return []*ir.Value{b.Node(Add{}, x, ConvertTo(b, b.Node(numbers, t.Key(b)), x.Type.DType))}
}

// IsIdentity returns true: without training the result is the operand.
func (Noise) IsIdentity(ir.Type) bool { return true }
