package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// broadcastShape returns the shape that tensors of these types have together
// (ONNX, multidirectional broadcasting): aligned at the last dimension, an
// extent of 1 repeats.
func broadcastShape(in []ir.Type) ([]ir.Dim, error) {
	rank := 0
	for _, t := range in {
		rank = max(rank, t.Rank())
	}
	shape := ir.Dims(make([]int, rank)...)
	for i := range shape {
		shape[i] = ir.Const(1)
		for _, t := range in {
			if j := i - rank + t.Rank(); j >= 0 {
				d, err := broadcastDim(shape[i], t.Shape[j])
				if err != nil {
					return nil, fmt.Errorf("dimension %d: %w", i, err)
				}
				shape[i] = d
			}
		}
	}
	return shape, nil
}

// broadcastDim returns the extent that a and b have together. A symbol against
// a constant above 1 is taken to be that constant or 1; symbols whose maximum would
// be too complex are taken to be equal, which is reported as [ir.Unproven].
func broadcastDim(a, b ir.Dim) (ir.Dim, error) {
	if a.Equal(b) {
		return a, nil
	}
	x, okA := a.Int()
	y, okB := b.Int()
	switch {
	case okA && x == 1:
		return b, nil
	case okB && y == 1:
		return a, nil
	case okA && okB:
		return a, fmt.Errorf("%d and %d do not broadcast", x, y)
	case okA:
		return a, nil
	case okB:
		return b, nil
	}
	most := a.Max(b)
	if most.Overflow() && !a.Overflow() && !b.Overflow() {
		return a, &ir.Unproven{A: a, B: b, What: "extents that are broadcast"}
	}
	return most, nil
}

// index walks a tensor of some shape in row-major order beside another that is
// broadcast to it.
type index struct {
	shape   []int
	strides []int // of the broadcast tensor, 0 where it repeats
	at      []int
	Offset  int // in the broadcast tensor
}

// newIndex returns the walk of a tensor of shape from, broadcast to shape.
func newIndex(shape, from []int) *index {
	x := &index{shape: shape, strides: make([]int, len(shape)), at: make([]int, len(shape))}
	stride := 1
	for i := len(from) - 1; i >= 0; i-- {
		if from[i] != 1 {
			x.strides[i+len(shape)-len(from)] = stride
		}
		stride *= from[i]
	}
	return x
}

// Next goes to the next element of the row-major order.
func (x *index) Next() {
	for i := len(x.at) - 1; i >= 0; i-- {
		x.at[i]++
		x.Offset += x.strides[i]
		if x.at[i] < x.shape[i] {
			return
		}
		x.Offset -= x.at[i] * x.strides[i]
		x.at[i] = 0
	}
}

// evalBroadcast returns the common shape of tensors and, for each, a walk
// through it in that shape.
func evalBroadcast(in []*ir.Tensor) (shape []int, walks []*index, err error) {
	types := make([]ir.Type, len(in))
	for i, t := range in {
		types[i] = t.Type()
	}
	dims, err := broadcastShape(types)
	if err != nil {
		return nil, nil, err
	}
	shape, _ = ir.Ints(dims)
	for _, t := range in {
		walks = append(walks, newIndex(shape, t.Shape))
	}
	return shape, walks, nil
}
