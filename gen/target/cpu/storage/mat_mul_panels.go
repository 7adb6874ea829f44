package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// MatMulPanels is the product of matrices a, f32[batch…,M,K], and matrices packed by [PackPanels],
// [batch…,⌈N/16⌉,K,16] of f32, f16 or bf16, with an [op.Epilogue]. Both operands have the same batch,
// or one of them is a single matrix without batch.
type MatMulPanels struct {
	N dim.Dim
	op.Parts
	op.Epilogue
}

// Infer is InferBlocks without a fused region.
func (o MatMulPanels) Infer(in []ir.Type) ([]ir.Type, error) { return o.InferBlocks(in, nil) }

// Eval is EvalBlocks without a fused region.
func (o MatMulPanels) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return o.EvalBlocks(in, nil, nil)
}

// InferBlocks returns f32[batch…,M,N].
func (o MatMulPanels) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if err := op.CheckOperands(in, 2, -1); err != nil {
		return nil, err
	}
	a, panels := in[0], in[1]
	r := panels.Rank() - 3
	switch panels.DType {
	case ir.F32, ir.F16, ir.BF16:
	default:
		r = -1
	}
	if a.DType != ir.F32 || a.Rank() < 2 || r < 0 {
		return nil, fmt.Errorf("a product of %s and panels %s", a, panels)
	}
	width, lanes := o.N.CeilDiv(dim.Const(block)), dim.Const(block)
	if !panels.Shape[r].Equal(width) || !panels.Shape[r+2].Equal(lanes) {
		return nil, fmt.Errorf("panels %s for %s columns", panels, o.N)
	}
	k := a.Shape[a.Rank()-1]
	if err := op.Same(k, panels.Shape[r+1], "inner dimensions"); err != nil {
		return nil, err
	}
	batch := a.Shape[: a.Rank()-2 : a.Rank()-2]
	switch other := panels.Shape[:r:r]; {
	case len(other) == 0:
	case len(batch) == 0:
		batch = other
	case !ir.TensorOf(ir.F32, batch...).Equal(ir.TensorOf(ir.F32, other...)):
		return nil, fmt.Errorf("batches of %s and panels %s differ", a, panels)
	}
	y := ir.TensorOf(ir.F32, append(batch, a.Shape[a.Rank()-2], o.N)...)
	return []ir.Type{y}, o.Check(in, blocks, width.Mul(lanes), y)
}

// EvalBlocks computes the products with sums in float64, and then the epilogue.
func (o MatMulPanels) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	out, shape, err := op.EvalTypes(o, in, blocks)
	if err != nil {
		return nil, err
	}
	a, panels := op.NumbersOf(in[0]), op.NumbersOf(in[1])
	r := len(shape)
	m, n, k := shape[r-2], shape[r-1], in[0].Shape[in[0].Rank()-1]
	strideA, strideB := m*k, op.LenOf(in[1].Shape[in[1].Rank()-3:])
	if in[0].Rank() == 2 {
		strideA = 0
	}
	if in[1].Rank() == 3 {
		strideB = 0
	}
	sums := make([]float64, out.Len())
	for i := range op.LenOf(shape[:r-2]) {
		for row := range m {
			from, to := a[i*strideA+row*k:][:k], sums[(i*m+row)*n:][:n]
			for j := range to {
				first := i*strideB + j/block*k*block + j%block
				for l, v := range from {
					to[j] += float64(v * panels[first+l*block])
				}
			}
		}
	}
	y, err := o.Apply(sums, shape, in, blocks, func(i int) int { return i % n })
	return []*ir.Tensor{y}, err
}

// Overwrites implements [ir.Overwriter]: the result may reuse the memory of the residual.
func (MatMulPanels) Overwrites() []int { return []int{op.ResidualArg} }

// Flops counts two operations for each product.
func (MatMulPanels) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(in[0].Shape[in[0].Rank()-1]).Mul(dim.Const(2))
}

// InParts implements [op.Summer]. It returns the operator with each sum split into partial sums of `terms` terms. It
// returns nil if a whole sum has at most `terms` terms.
func (o MatMulPanels) InParts(n *ir.Node, terms int) ir.Op {
	p, several := op.SplitSum(n.Arg(0).Type.Shape[n.Arg(0).Type.Rank()-1], terms)
	if !several {
		return nil
	}
	o.Parts = p
	return o
}

// WithEnding implements [op.EpilogueHost]: it returns the operator with epilogue e.
func (o MatMulPanels) WithEnding(e op.Epilogue) ir.Op {
	o.Epilogue = e
	return o
}

// Bias implements [op.EpilogueHost]. It returns v as a vector with an element for each column, padded with zeros to
// whole panels. It returns nil unless v has one number for each column.
func (MatMulPanels) Bias(b *ir.Builder, n *ir.Node, v *ir.Value) *ir.Value {
	return rowBias(b, n.Results[0].Type, v)
}

// NarrowOperand implements [op.NarrowReader]. It returns 1, the index of the panels, which may be
// f16 or bf16.
func (MatMulPanels) NarrowOperand() int { return 1 }
