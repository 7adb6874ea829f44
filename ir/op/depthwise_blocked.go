package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// DepthwiseBlocked is a convolution over one or two spatial axes in which each of C
// output channels has one input channel, its own: of channel-blocked
// f32[N,⌈C/16⌉,spatial…,16] with weights f32[⌈C/16⌉,KH,KW,16], and an [Epilogue].
// The result is channel-blocked, its lanes beyond C zero where those of the
// operand and the residual are.
type DepthwiseBlocked struct {
	Window
	C int
	Epilogue
}

// Infer is InferBlocks without a region.
func (op DepthwiseBlocked) Infer(in []ir.Type) ([]ir.Type, error) { return op.InferBlocks(in, nil) }

// Eval is EvalBlocks without a region.
func (op DepthwiseBlocked) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return op.EvalBlocks(in, nil, nil)
}

// InferBlocks computes the spatial extents.
func (op DepthwiseBlocked) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if err := operands(in, 2, -1); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	if _, err := spatialEnd(x, true); err != nil {
		return nil, err
	}
	channels := ir.Const(op.C).CeilDiv(ir.Const(block))
	spatial, err := op.over(x)
	if err != nil {
		return nil, err
	}
	if op.C < 1 || x.Rank() != 3+len(op.Kernel) || !x.Shape[1].Equal(channels) {
		return nil, fmt.Errorf("%s for %d channels", x, op.C)
	}
	kh, kw := op.plane()
	if !w.Equal(ir.TensorOf(ir.F32, channels, ir.Const(kh), ir.Const(kw), ir.Const(block))) {
		return nil, fmt.Errorf("packed weights %s for a kernel %v", w, op.Kernel)
	}
	y := blockedType(x.Shape[0], ir.Const(op.C), spatial)
	return []ir.Type{y}, op.Epilogue.check(in, blocks, channels.Mul(ir.Const(block)), y)
}

// EvalBlocks sums in float64.
func (op DepthwiseBlocked) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	out, shape, err := evalTypes(op, in, blocks)
	if err != nil {
		return nil, err
	}
	x, w := numbersOf(in[0]), numbersOf(in[1])
	spatial := len(op.Kernel)
	inSpatial := in[0].Shape[2 : 2+spatial]
	inPlane, outPlane, kernel := lenOf(inSpatial), lenOf(shape[2:2+spatial]), in[1].Shape[1]*in[1].Shape[2]
	sums := make([]float64, out.Len())
	err = op.visit(inSpatial, func(o int, c cells) {
		for i := range shape[0] * shape[1] {
			for lane := range block {
				sum := 0.0
				for t, at := range c.at {
					sum += float64(x[(i*inPlane+at)*block+lane] * w[(i%shape[1]*kernel+c.tap[t])*block+lane])
				}
				sums[(i*outPlane+o)*block+lane] = sum
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return evalBlockedSums(op.Epilogue, sums, shape, op.C, in, blocks)
}

// Overwrites lists the residual.
func (DepthwiseBlocked) Overwrites() []int { return []int{residualArg} }

// Flops counts two operations for each product.
func (DepthwiseBlocked) Flops(in, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(ir.Product(in[1].Shape[1:3]...)).Mul(ir.Const(2))
}

// Call is cpu.DepthwiseConv.
func (op DepthwiseBlocked) Call(n *ir.Node) (ir.Call, error) {
	p := packing{op.C, op.C, op.C, block}
	shape := op.convShape(n, p)
	return ir.Call{Kernel: "DepthwiseConv", Args: []any{ir.Out(0), ir.In(0), ir.In(1), shape, op.call(n)}}, nil
}

// WithEnding replaces the epilogue.
func (op DepthwiseBlocked) WithEnding(e Epilogue) ir.Op {
	op.Epilogue = e
	return op
}

// BlockedChannels are C.
func (op DepthwiseBlocked) BlockedChannels() (channels int, blocked bool) { return op.C, true }

// EmptyLanes are zero.
func (DepthwiseBlocked) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
