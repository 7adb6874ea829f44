package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// BitCast reads the bits of its operand as another element type of the same
// width (ONNX BitCast, from opset 26).
type BitCast struct{ To ir.DType }

// Infer gives the operand's shape.
func (op BitCast) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if from := in[0].DType; from.Bits() != op.To.Bits() || op.To.Bits() == 0 {
		return nil, fmt.Errorf("%s has not the width of %s", op.To, from)
	}
	return []ir.Type{in[0].With(op.To)}, nil
}

// Eval reads the bits.
func (op BitCast) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	y, err := ir.DecodeTensor(op.To, in[0].Shape, in[0].Bytes())
	return []*ir.Tensor{y}, err
}

// IsView marks that the bits stay where they are.
func (BitCast) IsView() {}

// importBitCast reads BitCast.
func importBitCast(c ir.Importer) ([]*ir.Value, error) {
	to := c.DType("to", ir.Invalid)
	return []*ir.Value{c.Builder().Node(BitCast{To: to}, c.Arg(0))}, nil
}
