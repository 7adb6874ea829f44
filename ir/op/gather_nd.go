package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// GatherND picks slices by coordinates: result[b…, j…] = data[b…, indices[b…, j…, :]]. b… are indices on the first
// BatchDims axes, which both operands have. The last axis of the indices holds the coordinates of a slice on the
// axes of data after b…. Negative coordinates count from the end. A coordinate out of range is an error at run
// time. Indices are i32 or i64.
type GatherND struct{ BatchDims int }

// Infer returns data's element type in the shape [j…, slice…]. j… are all extents of the indices except the last
// one, and slice… are the extents of a slice.
func (op GatherND) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	x, indices := in[0], in[1]
	if err := indexType(indices); err != nil {
		return nil, err
	}
	if op.BatchDims < 0 || op.BatchDims >= min(x.Rank(), indices.Rank()) {
		return nil, fmt.Errorf("%d batch axes for ranks %d and %d", op.BatchDims, x.Rank(), indices.Rank())
	}
	for i := range op.BatchDims {
		if err := Same(x.Shape[i], indices.Shape[i], fmt.Sprintf("batch axis %d", i)); err != nil {
			return nil, err
		}
	}
	shape, err := slicesAt(x, indices, op.BatchDims)
	if err != nil {
		return nil, err
	}
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

// Eval returns the picked slices. It returns an error if a coordinate is out of range.
func (op GatherND) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, indices := in[0], in[1]
	out, err := op.Infer([]ir.Type{x.Type(), indices.Type()})
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(x.DType, shape...)
	batches, k := 1, indices.Shape[indices.Rank()-1]
	for _, d := range x.Shape[:op.BatchDims] {
		batches *= d
	}
	extents, inner := x.Shape[op.BatchDims:op.BatchDims+k], 1
	for _, d := range x.Shape[op.BatchDims+k:] {
		inner *= d
	}
	slices := 1
	for _, d := range extents {
		slices *= d
	}
	tuples := indices.Len() / k
	for i := range tuples {
		slice, err := tupleOffset(indices, i, extents)
		if err != nil {
			return nil, err
		}
		batch := i * batches / tuples
		for j := range inner {
			y.Copy(i*inner+j, x, (batch*slices+slice)*inner+j)
		}
	}
	return []*ir.Tensor{y}, nil
}

// Grad returns the gradient of data. It adds each slice of dy to the slice of the gradient at its coordinates.
func (op GatherND) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	x, at := n.Arg(0), n.Arg(1)
	if op.BatchDims > 0 {
		one := slices.Clone(at.Type.Shape)
		one[len(one)-1] = dim.Const(1)
		parts := make([]*ir.Value, 0, op.BatchDims+1)
		for i := range op.BatchDims {
			parts = append(parts, places(b, at.Type.DType, i, one...))
		}
		at = b.Node(Concat{Axis: len(one) - 1}, append(parts, at)...)
	}
	return []*ir.Value{b.Node(ScatterND{"add"}, Full(b, x.Type, 0), at, dy[0]), nil}
}

// places appends a tensor of integers of type d in the given shape. The value of each element is the element's
// index along axis.
func places(b *ir.Builder, d ir.DType, axis int, shape ...dim.Dim) *ir.Value {
	ones := fill(b, ir.Scalar(d, 1), shape...)
	return b.Node(CumSum{Axis: axis, Exclusive: true}, ones)
}

func importGatherND(c ir.Importer) ([]*ir.Value, error) {
	batch := 0
	if c.Opset() >= 12 {
		batch = c.Int("batch_dims", 0)
	}
	return []*ir.Value{c.Builder().Node(GatherND{BatchDims: batch}, c.Arg(0), c.Arg(1))}, nil
}

// Movement returns Picks: the result consists of elements selected by indices.
func (GatherND) Movement() Movement { return Picks }
