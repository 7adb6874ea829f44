package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// DepthwiseBlocked is a depthwise convolution over one or two spatial axes of channel-blocked
// f32[N,⌈C/16⌉,spatial…,16] with weights f32[⌈C/16⌉,KH,KW,16], and an [op.Epilogue]. The result is
// channel-blocked. Its lanes beyond C are zero if these lanes of the operand and the residual are
// zero.
type DepthwiseBlocked struct {
	op.Window
	C int
	op.Epilogue
}

// Infer is InferBlocks without a fused region.
func (o DepthwiseBlocked) Infer(in []ir.Type) ([]ir.Type, error) { return o.InferBlocks(in, nil) }

// Eval is EvalBlocks without a fused region.
func (o DepthwiseBlocked) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return o.EvalBlocks(in, nil, nil)
}

// InferBlocks returns f32[N,⌈C/16⌉,spatial…,16], where the spatial extents are the numbers of
// windows.
func (o DepthwiseBlocked) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if err := op.CheckOperands(in, 2, -1); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	if _, err := op.SpatialEnd(x, true); err != nil {
		return nil, err
	}
	channels := dim.Const(o.C).CeilDiv(dim.Const(block))
	spatial, err := o.Over(x)
	if err != nil {
		return nil, err
	}
	if o.C < 1 || x.Rank() != 3+len(o.Kernel) || !x.Shape[1].Equal(channels) {
		return nil, fmt.Errorf("%s for %d channels", x, o.C)
	}
	kh, kw := o.Plane()
	if !w.Equal(ir.TensorOf(ir.F32, channels, dim.Const(kh), dim.Const(kw), dim.Const(block))) {
		return nil, fmt.Errorf("packed weights %s for a kernel %v", w, o.Kernel)
	}
	y := op.BlockedType(x.Shape[0], dim.Const(o.C), spatial)
	return []ir.Type{y}, o.Epilogue.Check(in, blocks, channels.Mul(dim.Const(block)), y)
}

// EvalBlocks computes the convolution with sums in float64, and then the epilogue.
func (o DepthwiseBlocked) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	out, shape, err := op.EvalTypes(o, in, blocks)
	if err != nil {
		return nil, err
	}
	x, w := op.NumbersOf(in[0]), op.NumbersOf(in[1])
	spatial := len(o.Kernel)
	inSpatial := in[0].Shape[2 : 2+spatial]
	inPlane, outPlane, kernel := op.LenOf(inSpatial), op.LenOf(shape[2:2+spatial]), in[1].Shape[1]*in[1].Shape[2]
	sums := make([]float64, out.Len())
	err = o.Visit(inSpatial, func(place int, c op.Cells) {
		for i := range shape[0] * shape[1] {
			for lane := range block {
				sum := 0.0
				for t, at := range c.At {
					sum += float64(x[(i*inPlane+at)*block+lane] * w[(i%shape[1]*kernel+c.Tap[t])*block+lane])
				}
				sums[(i*outPlane+place)*block+lane] = sum
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return evalBlockedSums(o.Epilogue, sums, shape, o.C, in, blocks)
}

// Overwrites implements [ir.Overwriter]: the result may reuse the memory of the residual.
func (DepthwiseBlocked) Overwrites() []int { return []int{op.ResidualArg} }

// Flops counts two operations for each product.
func (DepthwiseBlocked) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Product(in[1].Shape[1:3]...)).Mul(dim.Const(2))
}

// WithEnding implements [op.EpilogueHost]: it returns the operator with epilogue e.
func (o DepthwiseBlocked) WithEnding(e op.Epilogue) ir.Op {
	o.Epilogue = e
	return o
}

// Bias implements [op.EpilogueHost]. It returns v as a vector with an element for each lane of the blocks. It returns
// nil unless v has one number for each channel and is known to be zero in the lanes beyond the channels.
func (o DepthwiseBlocked) Bias(b *ir.Builder, n *ir.Node, v *ir.Value) *ir.Value {
	return blockedBias(b, n.Results[0].Type, o.C, v)
}

// EmptyLanes returns a list of one number, zero: the lanes beyond the last channel hold zero if the node has no
// residual, because the weights are zero there. Nodes get a residual only after the pass that asks for their lanes.
func (DepthwiseBlocked) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
