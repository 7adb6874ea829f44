package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// broadcastShape returns the common shape of tensors of the given types (ONNX multidirectional
// broadcasting). The shapes are aligned at the last axis, and an extent of 1 repeats. It returns the
// first error of [broadcastDim].
func broadcastShape(in []ir.Type) ([]dim.Dim, error) {
	rank := 0
	for _, t := range in {
		rank = max(rank, t.Rank())
	}
	shape := dim.Consts(make([]int, rank)...)
	for i := range shape {
		shape[i] = dim.Const(1)
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

// broadcastDim returns the common extent of a and b. If both are equal, the result is that extent. If one is 1, the
// result is the other. If one is a constant other than 1 and the other is symbolic, the result is the constant; at
// run time the symbolic extent must equal it or be 1. If both are symbolic, the result is their maximum.
// broadcastDim returns an error for two different constants other than 1, and an [ir.Unproven] error if the maximum
// is too complex.
func broadcastDim(a, b dim.Dim) (dim.Dim, error) {
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

// index walks through the elements of a tensor that is broadcast to `shape`, in row-major order of this shape.
type index struct {
	shape   []int
	strides []int // strides of the broadcast tensor, 0 along repeated axes
	at      []int // coordinates of the current element in shape
	Offset  int   // offset in the broadcast tensor
}

func newIndex(shape, source []int) *index {
	x := &index{shape: shape, strides: make([]int, len(shape)), at: make([]int, len(shape))}
	stride := 1
	for i := len(source) - 1; i >= 0; i-- {
		if source[i] != 1 {
			x.strides[i+len(shape)-len(source)] = stride
		}
		stride *= source[i]
	}
	return x
}

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

// evalBroadcast returns the common shape of tensors. It also returns an [index] for each tensor, which walks
// through the tensor's elements in the order of the common shape. It returns an error if the shapes do not
// broadcast.
func evalBroadcast(in []*ir.Tensor) (shape []int, walks []*index, err error) {
	types := make([]ir.Type, len(in))
	for i, t := range in {
		types[i] = t.Type()
	}
	dims, err := broadcastShape(types)
	if err != nil {
		return nil, nil, err
	}
	shape, _ = dim.Ints(dims)
	for _, t := range in {
		walks = append(walks, newIndex(shape, t.Shape))
	}
	return shape, walks, nil
}
