package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// SplitToSequence returns the sequence of the parts of its operand along Axis. An optional second operand, i32 or
// i64, gives the lengths of the parts. If it is a list, it has one length for each part. If it is a scalar, all
// parts have this length, but the last may be shorter. Without a second operand, each part has extent 1 along Axis,
// and the axis is removed unless KeepDims is set. It is an error at run time if a length is negative, if the scalar
// is 0, or if the sum of the list is not the extent.
type SplitToSequence struct {
	Axis     int
	KeepDims bool
}

// Infer returns a sequence type. If there is an operand with lengths, the extent of the elements along Axis is
// unknown.
func (op SplitToSequence) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 2); err != nil {
		return nil, err
	}
	if op.Axis < 0 || op.Axis >= in[0].Rank() {
		return nil, fmt.Errorf("axis %d out of range for rank %d", op.Axis, in[0].Rank())
	}
	elem := ir.ElemOf(in[0])
	switch {
	case len(in) == 2:
		if in[1].Rank() > 1 {
			return nil, fmt.Errorf("lengths %s, a scalar or a list expected", in[1])
		}
		if err := indexType(in[1]); err != nil {
			return nil, err
		}
		elem.Shape[op.Axis] = dim.Any
	case op.KeepDims:
		elem.Shape[op.Axis] = dim.Const(1)
	default:
		elem.Shape = slices.Delete(elem.Shape, op.Axis, op.Axis+1)
	}
	return []ir.Type{ir.SequenceOf(elem)}, nil
}

// Eval returns the sequence of the parts. It returns an error if the lengths do not fit the extent of Axis.
func (op SplitToSequence) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	types := []ir.Type{x.Type()}
	if len(in) == 2 {
		types = append(types, in[1].Type())
	}
	out, err := op.Infer(types)
	if err != nil {
		return nil, err
	}
	lengths, err := op.lengths(in)
	if err != nil {
		return nil, err
	}
	var items []*ir.Tensor
	start := int64(0)
	for _, n := range lengths {
		if n < 0 || n > int64(x.Shape[op.Axis])-start {
			return nil, fmt.Errorf("parts %v of an extent of %d", lengths, x.Shape[op.Axis])
		}
		s := wholeSlice(x.Type())
		s.Starts[op.Axis], s.Shape[op.Axis] = dim.Const64(start), dim.Const64(n)
		part, err := s.Eval(in[:1])
		if err != nil {
			return nil, err
		}
		if len(in) == 1 && !op.KeepDims {
			part[0] = part[0].Reshape(slices.Delete(slices.Clone(part[0].Shape), op.Axis, op.Axis+1)...)
		}
		items = append(items, part[0])
		start += n
	}
	if start != int64(x.Shape[op.Axis]) {
		return nil, fmt.Errorf("parts %v of an extent of %d", lengths, x.Shape[op.Axis])
	}
	return []*ir.Tensor{ir.SequenceTensor(*out[0].Elem, items...)}, nil
}

func (op SplitToSequence) lengths(in []*ir.Tensor) ([]int64, error) {
	if len(in) == 2 && in[1].Rank() == 1 {
		lengths := make([]int64, in[1].Len())
		for i := range lengths {
			lengths[i] = in[1].Int(i)
		}
		return lengths, nil
	}
	each, extent := int64(1), int64(in[0].Shape[op.Axis])
	if len(in) == 2 {
		each = in[1].Int(0)
	}
	if each <= 0 || extent/each >= maxParts {
		return nil, fmt.Errorf("parts of length %d of an extent of %d", each, extent)
	}
	var lengths []int64
	for left := extent; left > 0; left -= each {
		lengths = append(lengths, min(each, left))
	}
	return lengths, nil
}

// maxParts is the maximum number of parts if all parts have the same length. Kernels have the same limit.
const maxParts = 1 << 24

func importSplitToSequence(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	var split *ir.Value
	if c.NumArgs() > 1 {
		split = c.Arg(1)
	}
	axis, err := fromFront(c.Int("axis", 0), x.Type.Rank())
	if err != nil {
		return nil, err
	}
	keep := c.Int("keepdims", 1) != 0
	sizes, err := partSizes(x.Type.Shape[axis], split)
	if err != nil {
		return nil, err
	}
	if len(sizes) == 0 || len(sizes) > maxItems {
		return b.Nodes(SplitToSequence{Axis: axis, KeepDims: keep}, x, split), nil
	}
	parts, err := splitAxis(b, x, axis, sizes)
	if err != nil {
		return nil, err
	}
	if split == nil && !keep {
		for i, p := range parts {
			parts[i] = ReshapeTo(b, p, slices.Delete(slices.Clone(p.Type.Shape), axis, axis+1)...)
		}
	}
	return sequence(b, parts...), nil
}

// partSizes returns the extents of the parts of an axis of extent d. It returns nil if the number of parts is
// unknown. split is the operand with the lengths, or nil.
func partSizes(d dim.Dim, split *ir.Value) ([]dim.Dim, error) {
	each := 1
	if split != nil {
		sizes, ok := split.Dims()
		if !ok || split.Type.Rank() != 0 {
			return sizes, nil
		}
		n, ok := sizes[0].Int()
		if !ok {
			return nil, nil
		}
		each = n
	}
	extent, ok := d.Int()
	switch {
	case each <= 0:
		return nil, fmt.Errorf("parts of length %d", each)
	case !ok || extent/each > maxItems:
		return nil, nil
	}
	var sizes []dim.Dim
	for at := 0; at < extent; at += each {
		sizes = append(sizes, dim.Const(min(each, extent-at)))
	}
	return sizes, nil
}
