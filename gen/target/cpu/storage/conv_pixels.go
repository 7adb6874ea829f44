package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// ConvPixels is a 1×1 convolution of planar x, f32[N,InC,spatial…], with weights f32[OutC,InC] and
// an [op.Epilogue] whose bias is padded to a multiple of 16. An image has a multiple of 16 pixels. The
// result is planar: the product of the weights and each image.
type ConvPixels struct {
	InC, OutC int
	op.Parts
	op.Epilogue
}

// Infer is InferBlocks without a fused region.
func (o ConvPixels) Infer(in []ir.Type) ([]ir.Type, error) { return o.InferBlocks(in, nil) }

// Eval is EvalBlocks without a fused region.
func (o ConvPixels) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return o.EvalBlocks(in, nil, nil)
}

// InferBlocks returns f32[N,OutC,spatial…] with the spatial extents of x.
func (o ConvPixels) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if err := op.CheckOperands(in, 2, -1); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	if x.DType != ir.F32 || x.Rank() < 3 || o.InC < 1 || !x.Shape[1].Equal(dim.Const(o.InC)) || !PixelsFillVectors(x) {
		return nil, fmt.Errorf("%s for %d channels", x, o.InC)
	}
	if o.OutC < 1 || !w.Equal(ir.StaticTensor(ir.F32, o.OutC, o.InC)) {
		return nil, fmt.Errorf("weights %s for %d channels of %d", w, o.OutC, o.InC)
	}
	y := ir.TensorOf(ir.F32, append([]dim.Dim{x.Shape[0], dim.Const(o.OutC)}, x.Shape[2:]...)...)
	return []ir.Type{y}, o.Check(in, blocks, dim.Const((o.OutC+block-1)/block*block), y)
}

// PixelsFillVectors reports whether the number of pixels of a planar image is a multiple of 16.
func PixelsFillVectors(x ir.Type) bool {
	return dim.Product(x.Shape[2:]...).Mod(dim.Const(block)).Equal(dim.Const(0))
}

// EvalBlocks computes the products with sums in float64, and then the epilogue.
func (o ConvPixels) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	out, shape, err := op.EvalTypes(o, in, blocks)
	if err != nil {
		return nil, err
	}
	x, w, pixels := op.NumbersOf(in[0]), op.NumbersOf(in[1]), op.LenOf(shape[2:])
	sums := make([]float64, out.Len())
	for i := range shape[0] * o.OutC {
		image, by, to := x[i/o.OutC*o.InC*pixels:], w[i%o.OutC*o.InC:][:o.InC], sums[i*pixels:][:pixels]
		for c, v := range by {
			for p := range to {
				to[p] += float64(v * image[c*pixels+p])
			}
		}
	}
	y, err := o.Apply(sums, shape, in, blocks, func(i int) int { return i / pixels % o.OutC })
	return []*ir.Tensor{y}, err
}

// Overwrites implements [ir.Overwriter]: the result may reuse the memory of the residual.
func (ConvPixels) Overwrites() []int { return []int{op.ResidualArg} }

// Flops counts two operations for each product.
func (o ConvPixels) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Const(2 * o.InC))
}
