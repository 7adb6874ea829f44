package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ConvPixels is a convolution of single pixels of planar x, f32[N,InC,spatial…], a multiple
// of 16 in an image, with weights f32[OutC,InC], and an [Epilogue] whose bias is padded to a
// multiple of 16. The result is planar: the product of the weights and each image.
type ConvPixels struct {
	InC, OutC int
	Parts
	Epilogue
}

// Infer is InferBlocks without a region.
func (op ConvPixels) Infer(in []ir.Type) ([]ir.Type, error) { return op.InferBlocks(in, nil) }

// Eval is EvalBlocks without a region.
func (op ConvPixels) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return op.EvalBlocks(in, nil, nil)
}

// InferBlocks keeps the spatial extents.
func (op ConvPixels) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if err := operands(in, 2, -1); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	if x.DType != ir.F32 || x.Rank() < 3 || op.InC < 1 || !x.Shape[1].Equal(ir.Const(op.InC)) || !PixelsFillVectors(x) {
		return nil, fmt.Errorf("%s for %d channels", x, op.InC)
	}
	if op.OutC < 1 || !w.Equal(ir.StaticTensor(ir.F32, op.OutC, op.InC)) {
		return nil, fmt.Errorf("weights %s for %d channels of %d", w, op.OutC, op.InC)
	}
	y := ir.TensorOf(ir.F32, append([]ir.Dim{x.Shape[0], ir.Const(op.OutC)}, x.Shape[2:]...)...)
	return []ir.Type{y}, op.check(in, blocks, ir.Const((op.OutC+block-1)/block*block), y)
}

// PixelsFillVectors reports whether the pixels of a planar image are a multiple of 16.
func PixelsFillVectors(x ir.Type) bool {
	return ir.Product(x.Shape[2:]...).Mod(ir.Const(block)).Equal(ir.Const(0))
}

// EvalBlocks sums in float64.
func (op ConvPixels) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	out, shape, err := evalTypes(op, in, blocks)
	if err != nil {
		return nil, err
	}
	x, w, pixels := numbersOf(in[0]), numbersOf(in[1]), lenOf(shape[2:])
	sums := make([]float64, out.Len())
	for i := range shape[0] * op.OutC {
		image, by, to := x[i/op.OutC*op.InC*pixels:], w[i%op.OutC*op.InC:][:op.InC], sums[i*pixels:][:pixels]
		for c, v := range by {
			for p := range to {
				to[p] += float64(v * image[c*pixels+p])
			}
		}
	}
	y, err := op.eval(sums, shape, in, blocks, func(i int) int { return i / pixels % op.OutC })
	return []*ir.Tensor{y}, err
}

// Overwrites lists the residual.
func (ConvPixels) Overwrites() []int { return []int{residualArg} }

// Flops counts two operations for each product.
func (op ConvPixels) Flops(in, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(ir.Const(2 * op.InC))
}

// Call is cpu.MatMul of the weights and images, whose channels are rows.
func (op ConvPixels) Call(n *ir.Node) (ir.Call, error) {
	x := n.Arg(0).Type.Shape
	pixels := ir.Product(x[2:]...)
	return ir.Call{Kernel: "MatMul", Args: []any{ir.Out(0), ir.In(1), ir.In(0), op.Parts.in(ir.Struct{Type: "MatMulShape", Fields: []ir.Field{
		{Name: "M", Value: op.OutC},
		{Name: "N", Value: pixels},
		{Name: "K", Value: op.InC},
		{Name: "LDA", Value: op.InC},
		{Name: "LDC", Value: pixels},
		{Name: "Batch", Value: x[0]},
		{Name: "StrideA", Value: 0},
		{Name: "StrideB", Value: pixels.Mul(ir.Const(op.InC))},
		{Name: "StrideC", Value: pixels.Mul(ir.Const(op.OutC))},
		{Name: "LDB", Value: pixels},
		{Name: "RowBias", Value: true},
	}}), op.call(n)}}, nil
}
