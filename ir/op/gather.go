package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Gather picks slices of an axis: result[o…, j…, i…] = data[o…, indices[j…], i…]. o… are indices on the axes before
// Axis, and i… on the axes after it. Negative indices count from the end. An index out of range is an error at run
// time. Indices are i32 or i64.
type Gather struct{ Axis int }

// Infer returns data's type, but the shape of the indices replaces Axis.
func (op Gather) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	x, indices := in[0], in[1]
	if err := indexType(indices); err != nil {
		return nil, err
	}
	if op.Axis < 0 || op.Axis >= x.Rank() {
		return nil, fmt.Errorf("axis %d out of range for rank %d", op.Axis, x.Rank())
	}
	shape := append([]dim.Dim{}, x.Shape[:op.Axis]...)
	shape = append(shape, indices.Shape...)
	shape = append(shape, x.Shape[op.Axis+1:]...)
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

func indexType(t ir.Type) error {
	if t.DType != ir.I64 && t.DType != ir.I32 {
		return fmt.Errorf("indices are %s, i32 or i64 expected", t.DType)
	}
	return nil
}

// wrapIndex returns an index counted from the start of an axis of extent d. A negative index counts from the end of
// the axis. wrapIndex returns an error if the index is out of range.
func wrapIndex(index int64, d int) (int, error) {
	if index < -int64(d) || index >= int64(d) {
		return 0, fmt.Errorf("index %d out of range for an extent of %d", index, d)
	}
	if index < 0 {
		index += int64(d)
	}
	return int(index), nil
}

func wrapIndices(indices *ir.Tensor, d int) ([]int, error) {
	all := make([]int, indices.Len())
	for i := range all {
		var err error
		if all[i], err = wrapIndex(indices.Int(i), d); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// source returns a function from the coordinates of an element of the result to the coordinates of the element of
// data that it copies. picked holds the elements of the operand `indices` in row-major order; none is negative. shape
// is the shape of this operand.
func (op Gather) source(picked []int, shape []int) source {
	return func(at, from []int) {
		copy(from, at[:op.Axis])
		j := 0
		for i, d := range shape {
			j = j*d + at[op.Axis+i]
		}
		from[op.Axis] = picked[j]
		copy(from[op.Axis+1:], at[op.Axis+len(shape):])
	}
}

// Eval returns the picked slices. It returns an error if an index is out of range.
func (op Gather) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, indices := in[0], in[1]
	picked, err := wrapIndices(indices, x.Shape[op.Axis])
	if err != nil {
		return nil, err
	}
	shape := append([]int{}, x.Shape[:op.Axis]...)
	shape = append(shape, indices.Shape...)
	shape = append(shape, x.Shape[op.Axis+1:]...)
	return move(x, shape, op.source(picked, indices.Shape))
}

// Grad returns the gradient of data. It adds each slice of dy to the slice of the gradient that its index selects.
func (op Gather) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	x, indices := n.Arg(0), n.Arg(1)
	rank, picked := x.Type.Rank(), indices.Type.Rank()
	// Move the axes of the indices to the front, in dy and in x.
	first := AllAxes(op.Axis + picked)[op.Axis:]
	g := TransposeBy(b, dy[0], slices.Concat(first, otherAxes(rank-1+picked, first...))...)
	front := append([]int{op.Axis}, otherAxes(rank, op.Axis)...)
	shape := make([]dim.Dim, rank)
	for i, a := range front {
		shape[i] = x.Type.Shape[a]
	}
	zeros := fill(b, ir.Scalar(x.Type.DType, 0), shape...)
	at := ReshapeTo(b, indices, append(slices.Clone(indices.Type.Shape), dim.Const(1))...)
	sum := b.Node(ScatterND{Reduction: "add"}, zeros, at, g)
	return []*ir.Value{TransposeBy(b, sum, inversePerm(front)...), nil}
}

// InferElems picks slices of the known elements. It returns nil unless the indices are constants.
func (op Gather) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	indices, ok := in[1].Dims()
	if !ok {
		return nil
	}
	d, okExtent := in[0].Type.Shape[op.Axis].Int()
	shape, okShape := in[1].Type.Static()
	if !okExtent || !okShape {
		return nil
	}
	picked := make([]int, len(indices))
	for i, index := range indices {
		n, ok := index.Int64()
		if !ok {
			return nil
		}
		var err error
		if picked[i], err = wrapIndex(n, d); err != nil {
			return nil
		}
	}
	return moveElems(in[0], out, op.source(picked, shape))
}

// Lower replaces the node by a [Slice] if the indices are constants at equal distances.
func (op Gather) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Args[0]
	indices, ok := n.Args[1].ConstValue()
	d, okExtent := x.Type.Shape[op.Axis].Int()
	if !ok || !okExtent || indices.Len() == 0 {
		return nil
	}
	picked, err := wrapIndices(indices, d)
	if err != nil {
		return nil
	}
	step := 1
	if len(picked) > 1 {
		step = picked[1] - picked[0]
	}
	for i, p := range picked {
		if p != picked[0]+i*step {
			return nil
		}
	}
	s := wholeSlice(x.Type)
	s.Starts[op.Axis], s.Shape[op.Axis], s.Steps[op.Axis] = dim.Const(picked[0]), dim.Const(len(picked)), step
	return []*ir.Value{ReshapeTo(b, ApplySlice(b, x, s), n.Results[0].Type.Shape...)}
}

func importGather(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	axis, err := fromFront(c.Int("axis", 0), x.Type.Rank())
	if err != nil {
		return nil, err
	}
	return []*ir.Value{c.Builder().Node(Gather{Axis: axis}, x, c.Arg(1))}, nil
}

// Movement returns Picks: the result consists of elements selected by indices.
func (Gather) Movement() Movement { return Picks }

// IsStatistic returns false: no operand is a running statistic.
func (Gather) IsStatistic(int) bool { return false }
