package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importSimplifiedLayerNormalization imports SimplifiedLayerNormalization: an [RMSNormalization] with a second
// result, the inverse of the root mean square.
func importSimplifiedLayerNormalization(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	axis, err := fromFront(c.Int("axis", -1), x.Type.Rank())
	if err != nil {
		return nil, err
	}
	out, err := importRMSNormalization(c)
	if err != nil || !c.Wants(1) {
		return out, err
	}
	x = ConvertTo(b, x, wide(x.Type.DType))
	mean := b.Node(Reduce{Kind: ReduceMean, Axes: AllAxes(x.Type.Rank())[axis:], KeepDims: true}, b.Node(Mul{}, x, x))
	root := b.Node(Sqrt{}, b.Node(Add{}, mean, b.Scalar(x.Type.DType, c.Float("epsilon", float64(float32(1e-5))))))
	return append(out, b.Node(Reciprocal{}, root)), nil
}

// importSkipNormalization returns the import function of SkipLayerNormalization or SkipSimplifiedLayerNormalization
// of com.microsoft. These add two tensors and an optional bias, and normalise the sum along the last axis. `bias` is
// the index of this bias among the node's operands. The operands from 2 to bias−1 belong to the normalisation: the
// scale and, for a layer normalisation, a second bias. norm returns the operator that normalises. The fourth result
// of the node is the sum.
func importSkipNormalization(norm func(epsilon float64, last int) ir.Op, bias int) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		b, args := c.Builder(), []*ir.Value{c.Arg(0), c.Arg(1)}
		rank := args[1].Type.Rank()
		for i, lead := 0, args[0].Type.Rank()-rank; i < rank && lead >= 0; i++ {
			if d := args[1].Type.Shape[i]; !d.Equal(dim.Const(1)) {
				agree(b, d, args[0].Type.Shape[lead+i], fmt.Sprintf("axis %d of the two", i), args)
			}
		}
		sum := b.Node(Add{}, args...)
		if v := c.Arg(bias); v != nil {
			sum = b.Node(Add{}, sum, v)
		}
		out, err := normalized(c, sum, norm, 2, bias)
		if err != nil {
			return nil, err
		}
		if c.Wants(1) || c.Wants(2) {
			return nil, fmt.Errorf("the mean and the deviation as results are not supported")
		}
		return []*ir.Value{out, nil, nil, sum}[:min(4, max(c.NumResults(), 1))], nil
	}
}

// normalized appends x, normalised along its last axis. norm returns the operator that normalises. Its operands are
// x and the operands [first, end) of the node.
func normalized(c ir.Importer, x *ir.Value, norm func(epsilon float64, last int) ir.Op, first, end int) (*ir.Value, error) {
	last := x.Type.Rank() - 1
	if last < 0 {
		return nil, fmt.Errorf("%s has no axes", x.Type)
	}
	args := []*ir.Value{x}
	for i := first; i < end; i++ {
		args = append(args, c.Arg(i))
	}
	return c.Builder().Node(norm(c.Float("epsilon", float64(float32(1e-12))), last), args...), nil
}

func layerNormAt(epsilon float64, last int) ir.Op {
	return LayerNormalization{Axis: last, Epsilon: epsilon}
}

func rmsNormAt(epsilon float64, last int) ir.Op {
	return RMSNormalization{Axis: last, Epsilon: epsilon}
}

// importEmbedLayerNormalization imports EmbedLayerNormalization of com.microsoft. It adds three embeddings: of the
// tokens with ids [B,S], of their positions and of their segments. Then it normalises the sum. The second result is
// the number of ones in the mask for each batch element. The third result is the sum.
func importEmbedLayerNormalization(c ir.Importer) ([]*ir.Value, error) {
	b, ids, segments, mask, at := c.Builder(), c.Arg(0), c.Arg(1), c.Arg(7), c.Arg(8)
	if ids.Type.Rank() != 2 {
		return nil, fmt.Errorf("token ids %s, rank 2 expected", ids.Type)
	}
	c.Int("mask_index_type", 0)
	batch, count := ids.Type.Shape[0], ids.Type.Shape[1]
	rows := func(table, at *ir.Value, what string) *ir.Value {
		return b.Node(Gather{}, table, checked(b, at, table.Type.Shape[0], what, "rows"))
	}
	sum := rows(c.Arg(2), ids, "token")
	if at == nil {
		at = positions(b, count)
	}
	sum = b.Node(Add{}, sum, rows(c.Arg(3), at, "position"))
	if segments != nil && c.Arg(4) != nil {
		sum = b.Node(Add{}, sum, rows(c.Arg(4), segments, "segment"))
	}
	y, err := normalized(c, sum, layerNormAt, 5, 7)
	if err != nil {
		return nil, err
	}
	out := []*ir.Value{y, nil, sum}
	if c.Wants(1) {
		if mask == nil {
			out[1] = ExpandTo(b, b.Scalar(ir.I32, 0), batch)
		} else {
			out[1] = b.Node(Reduce{Kind: ReduceSum, Axes: []int{1}}, ConvertTo(b, mask, ir.I32))
		}
	}
	return out[:min(len(out), max(c.NumResults(), 1))], nil
}
