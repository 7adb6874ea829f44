package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// SequenceInsert returns a sequence with a tensor inserted at a position. The position is i32 or i64. A negative
// position counts from the end. If the position is absent, the tensor is appended. A position out of range is an
// error at run time.
type SequenceInsert struct{}

// Infer returns a sequence type that includes the types of the elements and of the tensor. It returns an error if
// their element types differ.
func (SequenceInsert) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckOperands(in, 2, 3); err != nil {
		return nil, err
	}
	elem, err := sequenceElem(in, 0)
	if err != nil {
		return nil, err
	}
	if err := CheckTensors(in[1:], 1, 2); err != nil {
		return nil, err
	}
	if len(in) == 3 {
		if err := checkPosition(in, 2); err != nil {
			return nil, err
		}
	}
	elem, err = ir.Join(elem, in[1])
	return []ir.Type{ir.SequenceOf(elem)}, err
}

// Eval returns the sequence with the tensor. It returns an error if the position is out of range.
func (SequenceInsert) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	items := in[0].Items
	at := len(items)
	elem, err := ir.Join(in[0].Elem, in[1].Type())
	if err == nil && len(in) == 3 {
		at, err = itemIndex(in[2].Int(0), len(items), len(items))
	}
	if err != nil {
		return nil, err
	}
	return []*ir.Tensor{ir.SequenceTensor(elem, slices.Insert(slices.Clone(items), at, in[1])...)}, nil
}

func importSequenceInsert(c ir.Importer) ([]*ir.Value, error) {
	b, seq, x, position := c.Builder(), c.Arg(0), c.Arg(1), (*ir.Value)(nil)
	if c.NumArgs() > 2 {
		position = c.Arg(2)
	}
	if items, ok := knownItems(seq); ok {
		at := len(items)
		if position != nil {
			var err error
			if at, ok, err = knownPosition(position, len(items), len(items)); err != nil {
				return nil, err
			}
		}
		if ok {
			if _, err := ir.Join(*seq.Type.Elem, x.Type); err != nil {
				return nil, err
			}
			return sequence(b, slices.Insert(slices.Clone(items), at, x)...), nil
		}
	}
	return b.Nodes(SequenceInsert{}, seq, x, position), nil
}
