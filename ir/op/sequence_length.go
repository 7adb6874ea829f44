package op

import "github.com/burngen/burngen/ir"

// SequenceLength returns the number of elements of a sequence as an i64 scalar.
type SequenceLength struct{}

// Infer returns i64[].
func (SequenceLength) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckOperands(in, 1, 1); err != nil {
		return nil, err
	}
	_, err := sequenceElem(in, 0)
	return []ir.Type{ir.TensorOf(ir.I64)}, err
}

// Eval returns the number of elements.
func (SequenceLength) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return []*ir.Tensor{ir.Scalar(ir.I64, float64(len(in[0].Items)))}, nil
}

func importSequenceLength(c ir.Importer) ([]*ir.Value, error) {
	b, seq := c.Builder(), c.Arg(0)
	if items, ok := knownItems(seq); ok {
		return []*ir.Value{b.Scalar(ir.I64, float64(len(items)))}, nil
	}
	return b.Nodes(SequenceLength{}, seq), nil
}
