package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// DepthwisePlanar is a depthwise convolution over one or two spatial axes of planar f32[N,C,spatial…]
// with weights f32[C,KH,KW], and an [op.Epilogue] whose bias is padded to a multiple of 16. The result is
// planar. The windows must be small enough for the kernel: see [FitsPlanar].
type DepthwisePlanar struct {
	op.Window
	C int
	op.Epilogue
}

// roomLen is the number of f32 elements in the buffer to which cpu.DepthwisePlanar copies rows. roomTaps is the
// largest number of cells of a window. [FitsPlanar] refuses windows for which these limits are too small, as
// cpu.FitsPlanar does.
const (
	roomLen  = 6 << 10
	roomTaps = 128
)

// FitsPlanar reports whether cpu.DepthwisePlanar supports a window over one or two axes.
func FitsPlanar(w op.Window) bool {
	axes := len(w.Kernel)
	kh, kw := w.Plane()
	if kh*kw > roomTaps {
		return false
	}
	stride, reach, depth := w.Stride(axes-1), (kw-1)*w.Dilation(axes-1), 1
	if axes > 1 {
		depth += (kh - 1) * w.Dilation(0)
	}
	return roomLen/depth/stride-reach/stride-1 >= block
}

// Infer is InferBlocks without a fused region.
func (o DepthwisePlanar) Infer(in []ir.Type) ([]ir.Type, error) { return o.InferBlocks(in, nil) }

// Eval is EvalBlocks without a fused region.
func (o DepthwisePlanar) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return o.EvalBlocks(in, nil, nil)
}

// InferBlocks returns f32[N,C,spatial…], where the spatial extents are the numbers of windows.
func (o DepthwisePlanar) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if err := op.CheckOperands(in, 2, -1); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	spatial, err := o.Over(x)
	if err != nil {
		return nil, err
	}
	channels := dim.Const(o.C)
	if o.C < 1 || x.DType != ir.F32 || x.Rank() != 2+len(o.Kernel) || !x.Shape[1].Equal(channels) {
		return nil, fmt.Errorf("%s for %d channels", x, o.C)
	}
	kh, kw := o.Plane()
	if !w.Equal(ir.TensorOf(ir.F32, channels, dim.Const(kh), dim.Const(kw))) || !FitsPlanar(o.Window) {
		return nil, fmt.Errorf("weights %s for a kernel %v", w, o.Kernel)
	}
	y := ir.TensorOf(ir.F32, append([]dim.Dim{x.Shape[0], channels}, spatial...)...)
	return []ir.Type{y}, o.Epilogue.Check(in, blocks, channels.CeilDiv(dim.Const(block)).Mul(dim.Const(block)), y)
}

// EvalBlocks computes the convolution with sums in float64, and then the epilogue.
func (o DepthwisePlanar) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	out, shape, err := op.EvalTypes(o, in, blocks)
	if err != nil {
		return nil, err
	}
	x, w := op.NumbersOf(in[0]), op.NumbersOf(in[1])
	inPlane, outPlane, kernel := op.LenOf(in[0].Shape[2:]), op.LenOf(shape[2:]), op.LenOf(o.Kernel)
	sums := make([]float64, out.Len())
	err = o.Visit(in[0].Shape[2:], func(place int, c op.Cells) {
		for i := range shape[0] * o.C {
			plane, taps := x[i*inPlane:][:inPlane], w[i%o.C*kernel:][:kernel]
			for t, at := range c.At {
				sums[i*outPlane+place] += float64(plane[at] * taps[c.Tap[t]])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	y, err := o.Epilogue.Apply(sums, shape, in, blocks, func(i int) int { return i / outPlane % o.C })
	return []*ir.Tensor{y}, err
}

// Overwrites implements [ir.Overwriter]: the result may reuse the memory of the residual.
func (DepthwisePlanar) Overwrites() []int { return []int{op.ResidualArg} }

// Flops counts two operations for each product.
func (DepthwisePlanar) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Product(in[1].Shape[1:]...)).Mul(dim.Const(2))
}
