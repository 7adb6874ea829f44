package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// SequenceErase returns a sequence without its element at a position. The position is i32 or i64. A negative
// position counts from the end. A position out of range is an error at run time.
type SequenceErase struct{}

// Infer returns the type of the sequence.
func (SequenceErase) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckOperands(in, 2, 2); err != nil {
		return nil, err
	}
	if _, err := sequenceElem(in, 0); err != nil {
		return nil, err
	}
	return in[:1], checkPosition(in, 1)
}

// Eval returns the sequence without the element. It returns an error if the position is out of
// range.
func (SequenceErase) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	items := in[0].Items
	at, err := itemIndex(in[1].Int(0), len(items), len(items)-1)
	if err != nil {
		return nil, err
	}
	return []*ir.Tensor{ir.SequenceTensor(in[0].Elem, slices.Delete(slices.Clone(items), at, at+1)...)}, nil
}

func importSequenceErase(c ir.Importer) ([]*ir.Value, error) {
	b, seq := c.Builder(), c.Arg(0)
	position := b.Scalar(ir.I64, -1)
	if c.NumArgs() > 1 && c.Arg(1) != nil {
		position = c.Arg(1)
	}
	if items, ok := knownItems(seq); ok {
		at, ok, err := knownPosition(position, len(items), len(items)-1)
		if err != nil {
			return nil, err
		}
		if ok && len(items) == 1 {
			return b.Nodes(SequenceConstruct{DType: seq.Type.Elem.DType}), nil
		}
		if ok {
			return sequence(b, slices.Delete(slices.Clone(items), at, at+1)...), nil
		}
	}
	return b.Nodes(SequenceErase{}, seq, position), nil
}
