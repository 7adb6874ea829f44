package storage

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Lower builds replacements, on packed operands, of the results of n. n is a matrix product, a convolution of integers,
// a recurrent layer, or the forward or backward pass of a recurrent layer in training. Lower returns nil if n stays
// unchanged.
func Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	switch o := n.Op.(type) {
	case op.MatMul:
		return lowerMatMul(b, n)
	case op.Gemm:
		return lowerGemm(b, n, o)
	case op.RecurrentLayer:
		return lowerRecurrent(b, n, o)
	case op.GRUTrace:
		return packWeights(b, n, 1, 2)
	case op.GRUGrad:
		return packWeights(b, n, 3, 4)
	case op.LSTMTrace:
		return packWeights(b, n, 1)
	case op.LSTMGrad:
		return packWeights(b, n, 2)
	case op.MatMulInteger:
		return lowerMatMulInteger(b, n, o)
	case op.ConvInteger:
		return lowerConvInteger(b, n, o)
	}
	return nil
}

// lowerMatMul packs the second of two f32 matrices into panels, and returns the product with the panels. It returns
// nil if the matrices are not f32.
func lowerMatMul(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, y := n.Arg(0), n.Arg(1)
	if x.Type.DType != ir.F32 {
		return nil
	}
	p, err := op.Matrices(x.Type, y.Type)
	if err != nil {
		ir.FailWith(err)
	}
	x, y = op.ReshapeTo(b, x, p.A...), op.ReshapeTo(b, y, p.B...)
	product := matMulPanels(b, x, b.Node(PackPanels{}, y), p.N, p.Batch, nil)
	return []*ir.Value{op.ReshapeTo(b, product, n.Results[0].Type.Shape...)}
}

// lowerGemm packs B into panels, and returns the product with the panels. It makes C a bias of the product if C is a
// row and Alpha and Beta are 1. It returns nil if the matrices are not f32.
func lowerGemm(b *ir.Builder, n *ir.Node, o op.Gemm) []*ir.Value {
	a, m, c := n.Arg(0), n.Arg(1), n.Arg(2)
	if a.Type.DType != ir.F32 {
		return nil
	}
	width := n.Results[0].Type.Shape[1]
	if o.TransA {
		a = op.TransposeBy(b, a, 1, 0)
	}
	var bias *ir.Value
	if c != nil && o.Alpha == 1 && o.Beta == 1 && op.IsRow(c.Type, width) {
		bias, c = op.ReshapeTo(b, c, width), nil
	}
	y := matMulPanels(b, a, b.Node(PackPanels{Trans: o.TransB}, m), width, nil, bias)
	return []*ir.Value{o.Finish(b, y, c)}
}

// matMulPanels appends the product of the matrices a and other matrices, which have n columns and are packed into
// panels. batch is the shape to which the batches of both broadcast. bias has n elements or is nil.
func matMulPanels(b *ir.Builder, a, panels *ir.Value, n dim.Dim, batch []dim.Dim, bias *ir.Value) *ir.Value {
	matrix, packed := a.Type.Shape, panels.Type.Shape
	i, j := len(matrix)-2, len(packed)-3
	one := dim.Const(1)
	switch {
	case dim.Product(packed[:j]...).Equal(one):
		panels = op.ReshapeTo(b, panels, packed[j:]...)
	case dim.Product(matrix[:i]...).Equal(one):
		a = op.ReshapeTo(b, a, matrix[i:]...)
		panels = op.ExpandTo(b, panels, slices.Concat(batch, packed[j:])...)
	default:
		a = op.ExpandTo(b, a, slices.Concat(batch, matrix[i:])...)
		panels = op.ExpandTo(b, panels, slices.Concat(batch, packed[j:])...)
	}
	if bias != nil {
		bias = blockVector(b, bias)
	}
	y := b.Node(MatMulPanels{N: n}, a, panels, bias)
	return op.ReshapeTo(b, y, slices.Concat(batch, []dim.Dim{matrix[i], n})...)
}

// lowerRecurrent multiplies the operand of an f32 layer by the input weights for all steps at once, and packs the
// recurrent weights into panels. It returns nil for layers of other types.
func lowerRecurrent(b *ir.Builder, n *ir.Node, o op.RecurrentLayer) []*ir.Value {
	if n.Arg(0).Type.DType != ir.F32 {
		return nil
	}
	return o.LowerWith(b, n, op.RecurrentProducts{
		Project: func(b *ir.Builder, x, w, bias *ir.Value) *ir.Value {
			return matMulPanels(b, x, b.Node(PackPanels{Trans: true}, w), w.Type.Shape[0], x.Type.Shape[:1:1], bias)
		},
		Weights: func(b *ir.Builder, r *ir.Value) *ir.Value { return b.Node(PackPanels{Trans: true}, r) },
	})
}

// packWeights builds n again with some operands packed into panels, and returns the new results. `operands` has their
// indices. packWeights returns nil if one of these operands is not an f32 matrix, for example because it is packed.
func packWeights(b *ir.Builder, n *ir.Node, operands ...int) []*ir.Value {
	args := slices.Clone(n.Args)
	for _, i := range operands {
		if args[i].Type.DType != ir.F32 || args[i].Type.Rank() != 2 {
			return nil
		}
		args[i] = b.Node(PackPanels{}, args[i])
	}
	return b.Nodes(n.Op, args...)
}
