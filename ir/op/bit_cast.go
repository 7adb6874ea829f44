package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// BitCast returns elements of type To with the same bits as the operand's elements (ONNX BitCast, from opset 26).
// To has the width of the operand's type.
type BitCast struct{ To ir.DType }

// Infer returns the operand's shape with the element type To. It returns an error if the widths of
// the types differ.
func (op BitCast) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if from := in[0].DType; from.Bits() != op.To.Bits() || op.To.Bits() == 0 {
		return nil, fmt.Errorf("%s does not have the width of %s", op.To, from)
	}
	return []ir.Type{in[0].With(op.To)}, nil
}

// Eval returns elements of type To that have the same bits as the operand's elements.
func (op BitCast) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	y, err := ir.DecodeTensor(op.To, in[0].Shape, in[0].Bytes())
	return []*ir.Tensor{y}, err
}

// Scalar returns the element with the same bits. It returns nil for bools, for 8-bit floats, and
// for f16 and bf16 operands, because kernels hold these as f32.
func (BitCast) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	from, to := x[0].Type.DType, kernel.Arithmetic(d)
	switch {
	case to == ir.Invalid || d == ir.Bool || from == ir.Bool:
		return nil
	case from.Bits() == d.Bits():
		return b.Bitcast(d, x[0])
	case from.IsFloat() || d.Bits() > 32:
		return nil
	case d.IsFloat():
		return b.Convert(to, b.Bitcast(d, b.Convert(ir.U16, x[0])))
	}
	return wrapped(b, d, b.Convert(to, x[0]))
}

// IsView marks the result as the memory of the operand.
func (BitCast) IsView() {}

func importBitCast(c ir.Importer) ([]*ir.Value, error) {
	to := c.DType("to", ir.Invalid)
	return []*ir.Value{c.Builder().Node(BitCast{To: to}, c.Arg(0))}, nil
}
