package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ReverseSequence reverses the first lens[n] elements of sequence n and leaves the
// rest as it is. x is [S,N,…], or [N,S,…] with BatchFirst, of any element type, lens
// i64[N] (ONNX ReverseSequence).
type ReverseSequence struct{ BatchFirst bool }

// Infer gives the type of x.
func (op ReverseSequence) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 2); err != nil {
		return nil, err
	}
	x, lens := in[0], in[1]
	if x.Rank() < 2 || lens.Rank() != 1 || lens.DType != ir.I64 {
		return nil, fmt.Errorf("%s with the lengths %s", x, lens)
	}
	_, batch := op.axes()
	return in[:1], same(lens.Shape[0], x.Shape[batch], "number of sequences")
}

// axes returns the axis of the steps and that of the sequences.
func (op ReverseSequence) axes() (time, batch int) {
	if op.BatchFirst {
		return 1, 0
	}
	return 0, 1
}

// Eval moves the elements.
func (op ReverseSequence) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, lens := in[0], in[1]
	time, batch := op.axes()
	for n := range lens.Len() {
		if l := lens.Int(n); l < 0 || l > int64(x.Shape[time]) {
			return nil, fmt.Errorf("length %d of sequence %d is not within %d steps", l, n, x.Shape[time])
		}
	}
	return move(x, x.Shape, func(at, from []int) {
		copy(from, at)
		if l := int(lens.Int(at[batch])); at[time] < l {
			from[time] = l - 1 - at[time]
		}
	})
}

// Grad reverses the result's.
func (op ReverseSequence) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{b.Node(op, of[0], n.Arg(1)), nil}
}

// Call is cpu.ReverseSequence.
func (op ReverseSequence) Call(n *ir.Node) (ir.Call, error) {
	shape := n.Arg(0).Type.Shape
	time, batch := op.axes()
	return ir.Call{Kernel: "ReverseSequence", Args: []any{
		ir.Out(0), ir.In(0), ir.In(1), shape[time], shape[batch], ir.Product(shape[2:]...), op.BatchFirst,
	}}, nil
}

// importReverseSequence reads ReverseSequence.
func importReverseSequence(c ir.Importer) ([]*ir.Value, error) {
	batch, time := c.Int("batch_axis", 1), c.Int("time_axis", 0)
	if batch != 0 && batch != 1 || time != 1-batch {
		return nil, fmt.Errorf("batch_axis %d and time_axis %d", batch, time)
	}
	b := c.Builder()
	lens := convert(b, c.Arg(1), ir.I64)
	return []*ir.Value{b.Node(ReverseSequence{BatchFirst: batch == 0}, c.Arg(0), lens)}, nil
}
