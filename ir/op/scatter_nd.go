package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// ScatterND returns its first operand with slices updated: result[indices[j…, :]] = updates[j…]. indices is the
// second operand. Its last axis holds the coordinates of a slice on the first axes of the result. With Reduction
// "add", "mul", "max" or "min", the slice and the update are combined. Negative coordinates count from the end. A
// coordinate out of range is an error at run time. Indices are i32 or i64. Updates are applied in row-major order.
type ScatterND struct{ Reduction string }

// Infer returns the type of the data. It returns an error unless updates has the shape of the slices that the
// indices select.
func (op ScatterND) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := scatterType(in, op.Reduction); err != nil {
		return nil, err
	}
	slice, err := slicesAt(in[0], in[1], 0)
	if err != nil {
		return nil, err
	}
	updates := in[2]
	if updates.Rank() != len(slice) {
		return nil, fmt.Errorf("updates of rank %d, %d expected", updates.Rank(), len(slice))
	}
	for i, d := range slice {
		if err := Same(d, updates.Shape[i], fmt.Sprintf("axis %d of updates", i)); err != nil {
			return nil, err
		}
	}
	return in[:1], nil
}

// slicesAt returns the shape of the slices of x that indices selects. The last axis of indices holds n coordinates,
// for n axes of x from axis `batch` on. The shape has the other extents of indices, followed by the extents of x
// after these n axes. slicesAt returns an error if n is 0, is not constant, or exceeds the number of axes.
func slicesAt(x, indices ir.Type, batch int) ([]dim.Dim, error) {
	if indices.Rank() == 0 {
		return nil, fmt.Errorf("indices of rank 0")
	}
	last := indices.Rank() - 1
	k, ok := indices.Shape[last].Int()
	if !ok || k < 1 || batch+k > x.Rank() {
		return nil, fmt.Errorf("%s coordinates for rank %d after %d batch axes", indices.Shape[last], x.Rank(), batch)
	}
	shape := append([]dim.Dim{}, indices.Shape[:last]...)
	return append(shape, x.Shape[batch+k:]...), nil
}

// tupleOffset returns the row-major index of an element in axes of the given extents. Row i of indices holds the
// coordinates of the element. tupleOffset returns an error if a coordinate is out of range.
func tupleOffset(indices *ir.Tensor, i int, extents []int) (int, error) {
	offset := 0
	for k, d := range extents {
		at, err := wrapIndex(indices.Int(i*len(extents)+k), d)
		if err != nil {
			return 0, err
		}
		offset = offset*d + at
	}
	return offset, nil
}

// Eval returns the data with the updates applied. It returns an error if a coordinate is out of
// range.
func (op ScatterND) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, indices, updates := in[0], in[1], in[2]
	if _, err := op.Infer([]ir.Type{x.Type(), indices.Type(), updates.Type()}); err != nil {
		return nil, err
	}
	k := indices.Shape[indices.Rank()-1]
	inner := 1
	for _, d := range x.Shape[k:] {
		inner *= d
	}
	y := copied(x)
	for i := range indices.Len() / k {
		slice, err := tupleOffset(indices, i, x.Shape[:k])
		if err != nil {
			return nil, err
		}
		for j := range inner {
			if err := scatter(op.Reduction, y, slice*inner+j, updates, i*inner+j); err != nil {
				return nil, err
			}
		}
	}
	return []*ir.Tensor{y}, nil
}

// Grad returns the gradients of the data and the updates. Without a Reduction, the gradient of the data is dy, with
// 0 for the replaced slices. The gradient of an update is the slice of dy at its coordinates, or 0 if a later
// update replaced it. With a Reduction the gradients are as in [ScatterElements.Grad].
func (op ScatterND) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	at := n.Arg(1)
	return scatterGrad(b, n, dy[0], want, op.Reduction,
		func(reduction string, data, updates *ir.Value) *ir.Value {
			return b.Node(ScatterND{reduction}, data, at, updates)
		},
		func(data *ir.Value) *ir.Value { return b.Node(GatherND{}, data, at) })
}

// Overwrites allows the result to reuse the memory of the data.
func (ScatterND) Overwrites() []int { return []int{0} }

// Lower computes in a wider type if a Reduction is set and the type is narrow, such as f16. Otherwise it returns
// nil.
func (op ScatterND) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	return lowerScatter(b, n, op.Reduction)
}

func importScatterND(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(ScatterND{Reduction: scatterReduction(c)}, c.Arg(0), c.Arg(1), c.Arg(2))}, nil
}
