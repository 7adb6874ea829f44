package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// MatMulPanels is the product of matrices a, f32[batch…,M,K], and matrices that
// [PackPanels] has put into panels, [batch…,⌈N/16⌉,K,16] of f32 or rounded to f16 or bf16,
// with an [Epilogue].
// Either both have the same batch, or one of them has a single matrix, without
// batch, for all.
type MatMulPanels struct {
	N ir.Dim
	Parts
	Epilogue
}

// Infer is InferBlocks without a region.
func (op MatMulPanels) Infer(in []ir.Type) ([]ir.Type, error) { return op.InferBlocks(in, nil) }

// Eval is EvalBlocks without a region.
func (op MatMulPanels) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return op.EvalBlocks(in, nil, nil)
}

// InferBlocks gives f32[batch…,M,N].
func (op MatMulPanels) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if err := operands(in, 2, -1); err != nil {
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
	width, lanes := op.N.CeilDiv(ir.Const(block)), ir.Const(block)
	if !panels.Shape[r].Equal(width) || !panels.Shape[r+2].Equal(lanes) {
		return nil, fmt.Errorf("panels %s for %s columns", panels, op.N)
	}
	k := a.Shape[a.Rank()-1]
	if err := same(k, panels.Shape[r+1], "inner dimensions"); err != nil {
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
	y := ir.TensorOf(ir.F32, append(batch, a.Shape[a.Rank()-2], op.N)...)
	return []ir.Type{y}, op.check(in, blocks, width.Mul(lanes), y)
}

// EvalBlocks sums in float64.
func (op MatMulPanels) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	out, shape, err := evalTypes(op, in, blocks)
	if err != nil {
		return nil, err
	}
	a, panels := numbersOf(in[0]), numbersOf(in[1])
	r := len(shape)
	m, n, k := shape[r-2], shape[r-1], in[0].Shape[in[0].Rank()-1]
	strideA, strideB := m*k, lenOf(in[1].Shape[in[1].Rank()-3:])
	if in[0].Rank() == 2 {
		strideA = 0
	}
	if in[1].Rank() == 3 {
		strideB = 0
	}
	sums := make([]float64, out.Len())
	for i := range lenOf(shape[:r-2]) {
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
	y, err := op.eval(sums, shape, in, blocks, func(i int) int { return i % n })
	return []*ir.Tensor{y}, err
}

// Overwrites lists the residual.
func (MatMulPanels) Overwrites() []int { return []int{residualArg} }

// Flops counts two operations for each product.
func (MatMulPanels) Flops(in, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(in[0].Shape[in[0].Rank()-1]).Mul(ir.Const(2))
}

// Call is cpu.MatMul or, of narrower panels, cpu.MatMulNarrow.
func (op MatMulPanels) Call(n *ir.Node) (ir.Call, error) {
	a, panels := n.Arg(0).Type.Shape, n.Arg(1).Type.Shape
	i, j := len(a)-2, len(panels)-3
	m, k := a[i], a[i+1]
	batch, strideA, strideB := ir.Product(a[:i]...), m.Mul(k), ir.Product(panels[j:]...)
	switch {
	case j == 0: // one matrix for all rows
		m, batch, strideB = m.Mul(batch), ir.Const(1), ir.Const(0)
		strideA = ir.Const(0)
	case i == 0:
		batch, strideA = ir.Product(panels[:j]...), ir.Const(0)
	}
	strideC := m.Mul(op.N)
	if j == 0 {
		strideC = ir.Const(0)
	}
	kernel := "MatMul"
	if n.Arg(1).Type.DType != ir.F32 {
		kernel = "MatMulNarrow"
	}
	return ir.Call{Kernel: kernel, Args: []any{ir.Out(0), ir.In(0), ir.In(1), op.Parts.in(ir.Struct{Type: "MatMulShape", Fields: []ir.Field{
		{Name: "M", Value: m},
		{Name: "N", Value: op.N},
		{Name: "K", Value: k},
		{Name: "LDA", Value: k},
		{Name: "LDC", Value: op.N},
		{Name: "Batch", Value: batch},
		{Name: "StrideA", Value: strideA},
		{Name: "StrideB", Value: strideB},
		{Name: "StrideC", Value: strideC},
	}}), op.call(n)}}, nil
}

// InParts divides the sums anywhere.
func (op MatMulPanels) InParts(n *ir.Node, terms int) ir.Op {
	p, several := parts(n.Arg(0).Type.Shape[n.Arg(0).Type.Rank()-1], terms)
	if !several {
		return nil
	}
	op.Parts = p
	return op
}

// WithEnding replaces the epilogue.
func (op MatMulPanels) WithEnding(e Epilogue) ir.Op {
	op.Epilogue = e
	return op
}

// BlockedChannels are none: the result has rows.
func (MatMulPanels) BlockedChannels() (channels int, blocked bool) { return 0, false }
