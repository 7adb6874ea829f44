package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// SequenceConstruct returns the sequence of its operands, which are tensors of one element type and rank. Without
// operands, it returns an empty sequence of tensors of type DType and any rank.
type SequenceConstruct struct{ DType ir.DType }

// Infer returns a sequence type that covers all operands.
func (op SequenceConstruct) Infer(in []ir.Type) ([]ir.Type, error) {
	if len(in) == 0 {
		if op.DType == ir.Invalid {
			return nil, fmt.Errorf("no element type")
		}
		return []ir.Type{ir.SequenceOf(ir.Type{DType: op.DType})}, nil
	}
	if err := CheckTensors(in, len(in), -1); err != nil {
		return nil, err
	}
	elem, err := joinItems(in)
	return []ir.Type{ir.SequenceOf(elem)}, err
}

// Eval returns a sequence of the operands.
func (op SequenceConstruct) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	types := make([]ir.Type, len(in))
	for i, t := range in {
		types[i] = t.Type()
	}
	out, err := op.Infer(types)
	if err != nil {
		return nil, err
	}
	return []*ir.Tensor{ir.SequenceTensor(*out[0].Elem, in...)}, nil
}

// Lower inserts the operands into an empty sequence, one after the other.
func (op SequenceConstruct) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if len(n.Args) == 0 {
		return nil
	}
	seq := b.Node(SequenceConstruct{DType: n.Args[0].Type.DType})
	for _, a := range n.Args {
		seq = b.Node(SequenceInsert{}, seq, a)
	}
	return []*ir.Value{seq}
}

func importSequenceConstruct(c ir.Importer) ([]*ir.Value, error) {
	items := make([]*ir.Value, c.NumArgs())
	for i := range items {
		items[i] = c.Arg(i)
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("no operands")
	}
	return sequence(c.Builder(), items...), nil
}

func sequence(b *ir.Builder, items ...*ir.Value) []*ir.Value {
	return b.Nodes(SequenceConstruct{}, items...)
}

func importSequenceEmpty(c ir.Importer) ([]*ir.Value, error) {
	return c.Builder().Nodes(SequenceConstruct{DType: c.DType("dtype", ir.F32)}), nil
}
