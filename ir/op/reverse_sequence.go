package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ReverseSequence reverses the first lens[n] elements of sequence n (ONNX ReverseSequence). x is [S,N,…], or
// [N,S,…] with BatchFirst. x may have any element type. lens, the second operand, is i64[N].
type ReverseSequence struct{ BatchFirst bool }

// Infer returns the type of x. It returns an error unless lens has one element for each sequence.
func (op ReverseSequence) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	x, lens := in[0], in[1]
	if x.Rank() < 2 || lens.Rank() != 1 || lens.DType != ir.I64 {
		return nil, fmt.Errorf("%s with the lengths %s", x, lens)
	}
	_, batch := op.Axes()
	return in[:1], Same(lens.Shape[0], x.Shape[batch], "number of sequences")
}

// Axes returns the axis of the time steps, and the axis of the sequences.
func (op ReverseSequence) Axes() (time, batch int) {
	if op.BatchFirst {
		return 1, 0
	}
	return 0, 1
}

// Eval returns x with the first lens[n] steps of sequence n reversed. It returns an error if a length is negative,
// or larger than the number of steps.
func (op ReverseSequence) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, lens := in[0], in[1]
	time, batch := op.Axes()
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

// Grad returns dy, reversed in the same way.
func (op ReverseSequence) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{b.Node(op, dy[0], n.Arg(1)), nil}
}

func importReverseSequence(c ir.Importer) ([]*ir.Value, error) {
	batch, time := c.Int("batch_axis", 1), c.Int("time_axis", 0)
	if batch != 0 && batch != 1 || time != 1-batch {
		return nil, fmt.Errorf("batch_axis %d and time_axis %d", batch, time)
	}
	b := c.Builder()
	lens := ConvertTo(b, c.Arg(1), ir.I64)
	return []*ir.Value{b.Node(ReverseSequence{BatchFirst: batch == 0}, c.Arg(0), lens)}, nil
}
